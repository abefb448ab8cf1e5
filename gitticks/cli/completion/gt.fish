# Completion of gt in fish: gt completion fish | source

function __gt_completion
    set -l words (commandline -opc) (commandline -ct)
    set -l tab (printf '\t')
    for line in (env _GT_COMPLETE=fish $words 2>/dev/null)
        switch $line
            case "$tab"file "$tab"folder
                set -l typed (commandline -ct)
                set -l flag (string match -r -- '^-[^=]*=' $typed)
                for path in (__fish_complete_path (string replace -r -- '^-[^=]*=' '' $typed))
                    echo "$flag$path"
                end
            case '*'
                echo $line
        end
    end
end

for name in gt gitticks
    complete --command $name --no-files --keep-order --arguments '(__gt_completion)'
end
