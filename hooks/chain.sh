# What every hook of gitticks does: first the person's own hook of that name, as git would have run it without us, then
# ours. The hooks read this file; it is none itself.

# Prints the folder of hooks that this one hides: the one named outside of our setting, else the repository's.
own_hooks() {
    hidden=$(git config --type=path gitticks.hiddenHooksPath) && [ -n "$hidden" ] && printf '%s\n' "$hidden" && return
    tab=$(printf '\t')
    named=$(git config --show-scope --type=path --get-all core.hooksPath | grep -v "^worktree$tab" | tail -n 1)
    if [ -n "$named" ]; then
        printf '%s\n' "${named#*"$tab"}"
    else
        printf '%s\n' "$(git rev-parse --git-common-dir)/hooks"
    fi
}

# Runs the person's own hook; there is none, or it agrees, if the answer is 0.
run_own() {
    name=$1
    shift
    own=$(own_hooks)/$name
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
        echo "gitticks: \`$name\` did nothing: ${python:-its Python} is gone; \`gt init\` mends it" >&2
        return 0
    fi
    "$python" -P -m gitticks hook "$name" "$@"
    refusal=$?
    [ "$refusal" -eq 0 ] || [ "$refusal" -eq 3 ] && return "$refusal"
    echo "gitticks: \`$name\` could not run and checked nothing; \`gt doctor\` says why" >&2
}
