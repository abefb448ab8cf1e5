#compdef gt gitticks
# Completion of gt in zsh: eval "$(gt completion zsh)", or this text as a file `_gt` in a folder of $fpath

_gt() {
    local line
    local -a found shown
    local -i longest=0
    for line in "${(@f)$(COLUMNS=$COLUMNS _GT_COMPLETE=zsh ${(Q)words[1]} "${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
        case $line in
        $'\tfile') [[ $PREFIX == -*=* ]] && compset -P '*='; _files; return ;;
        $'\tfolder') [[ $PREFIX == -*=* ]] && compset -P '*='; _files -/; return ;;
        ?*)
            found+=("${line%%$'\t'*}")
            shown+=("${line#*$'\t'}")
            (( ${#found[-1]} > longest )) && longest=${#found[-1]}
            ;;
        esac
    done
    (( $#found )) || return 1
    local -i at
    for (( at = 1; at <= $#found; at++ )); do
        if [[ -n ${shown[at]} ]]; then
            shown[at]="${(r:longest:)found[at]}  ${shown[at]}"
        else
            shown[at]=${found[at]}
        fi
    done
    if [[ -n ${(M)shown:#*  *} ]]; then
        compadd -l -V gt -d shown -a found
    else
        compadd -V gt -a found
    fi
}

if [[ ${zsh_eval_context[-1]} == loadautofunc ]]; then
    _gt "$@"
else
    compdef _gt gt gitticks
fi
