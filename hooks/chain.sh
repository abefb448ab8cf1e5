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

# Prints the hooks path that is named outside of our setting; nothing if none is.
named_hooks() {
    tab=$(printf '\t')
    git config --show-scope --type=path --get-regexp '^(gitticks\.hiddenhookspath|core\.hookspath)$' | {
        hidden= named=
        while IFS= read -r line; do
            case $line in
            worktree"$tab"core.*) ;;
            *"$tab"core.*) named=${line#* } ;;
            *) hidden=${line#* } ;;
            esac
        done
        printf '%s\n' "${hidden:-$named}"
    }
}

# Prints the folder of hooks that this one hides.
own_hooks() {
    named=$(named_hooks)
    printf '%s\n' "${named:-$(common_dir)/hooks}"
}

# Prints the directory that all worktrees share; in a linked one git has told the hook where that is written.
common_dir() {
    case ${GIT_DIR-} in
    */ | *//* | */. | */..) shared= ;; # as somebody typed it; only git can read that
    /*/worktrees/*) read -r shared 2>/dev/null <"$GIT_DIR/commondir" || shared= ;;
    *) shared= ;;
    esac
    if [ "$shared" = ../.. ] && [ -z "${GIT_COMMON_DIR-}" ] && ! [ -L "$GIT_DIR" ] && ! [ -L "${GIT_DIR%/*}" ]; then
        printf '%s\n' "${GIT_DIR%/*/*}"
    else
        git rev-parse --git-common-dir
    fi
}

# Runs the person's own hook; there is none, or it agrees, if the answer is 0.
run_own() {
    name=$1
    shift
    own=${own_hook:-$(own_hooks)/$name}
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
