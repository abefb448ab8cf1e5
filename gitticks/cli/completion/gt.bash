# Completion of gt in bash: eval "$(gt completion bash)"

_gt_completion() {
    local line answer
    answer=$(COMP_TYPE="${COMP_TYPE-}" COLUMNS="${COLUMNS-}" _GT_COMPLETE=bash \
        "$1" "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
    COMPREPLY=()
    while IFS= read -r line; do
        case $line in
        $'\tfile') compopt -o default ;;
        $'\tfolder') compopt -o dirnames ;;
        ?*) COMPREPLY+=("${line%%$'\t'*}") ;;
        esac
    done <<<"$answer"
}

complete -o nosort -F _gt_completion gt gitticks
