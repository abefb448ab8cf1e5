# What every hook of gitticks does: first the person's own hook of that name, as git would have run it without us, then
# ours. The hooks read this file; it is none itself.

own_hook=${GITTICKS_OWN_HOOK-} # said by the hook that was put in front of it, and no business of what that starts
unset GITTICKS_OWN_HOOK

case ${0%/*} in
*/gitticks/hooks) # on the board, where no code is, so that a missing configuration of pre-commit is no mistake
    PRE_COMMIT_ALLOW_NO_CONFIG=1
    export PRE_COMMIT_ALLOW_NO_CONFIG
    ;;
esac

# Sets `named` to the hooks path that is named outside of our setting; to nothing if none is.
# Git starts hooks at every commit, so they start as few processes as they can: no pipes, and no substitution but of git's words.
find_named_hooks() {
    hidden= named=
    while IFS= read -r line; do # scope, tab, key, blank, value
        case $line in
        worktree?core.*) ;;
        *) case ${line#*[!a-z]} in
            core.*) named=${line#* } ;;
            ?*) hidden=${line#* } ;;
            esac ;;
        esac
    done <<END
$(git config --show-scope --type=path --get-regexp '^(gitticks\.hiddenhookspath|core\.hookspath)$')
END
    named=${hidden:-$named}
}

# Sets `folder` to the hooks that this one hides.
find_own_hooks() {
    find_named_hooks
    folder=$named
    if [ -z "$folder" ]; then
        find_common_dir
        folder=$common/hooks
    fi
}

# Sets `common` to the directory that all worktrees share; in a linked one git has told the hook where that is written.
find_common_dir() {
    case ${GIT_DIR-} in
    */ | *//* | */. | */..) shared= ;; # as somebody typed it; only git can read that
    /*/worktrees/*) read -r shared 2>/dev/null <"$GIT_DIR/commondir" || shared= ;;
    *) shared= ;;
    esac
    if [ "$shared" = ../.. ] && [ -z "${GIT_COMMON_DIR-}" ] && ! [ -L "$GIT_DIR" ] && ! [ -L "${GIT_DIR%/*}" ]; then
        common=${GIT_DIR%/*/*}
    else
        common=$(git rev-parse --git-common-dir)
    fi
}

# Runs the person's own hook; there is none, or it agrees, if the answer is 0.
run_own() {
    name=$1
    shift
    own=$own_hook
    if [ -z "$own" ]; then
        find_own_hooks
        own=$folder/$name
    fi
    if [ -f "$own" ] && [ -x "$own" ] && ! [ "$own" -ef "$0" ]; then
        "$own" "$@"
    fi
}

# Runs ours, which refuses with 3. Where it cannot run, nothing is checked, and that is said.
run_gitticks() {
    name=$1
    shift
    python=
    read -r python 2>/dev/null <"${0%/*}/interpreter" || :
    if [ -z "$python" ] || ! [ -x "$python" ]; then
        echo "gitticks: \`$name\` did nothing: ${python:-its Python} is gone; \`gt hooks install\` fixes it" >&2
        return 0
    fi
    "$python" -P -m gitticks hook "$name" "$@"
    refusal=$?
    [ "$refusal" -eq 0 ] || [ "$refusal" -eq 3 ] && return "$refusal"
    if [ -n "${must_be_checked-}" ]; then
        echo "gitticks: \`$name\` could not run, so it lets nothing in; \`gt doctor\` there says why" >&2
        return 1
    fi
    echo "gitticks: \`$name\` could not run and checked nothing; \`gt doctor\` says why" >&2
}

# Runs a command with the lines of $given on its stdin, which it need not read.
with_given() {
    if [ -z "$given" ]; then
        "$@" </dev/null
        return
    fi
    "$@" <<END
$given
END
}
