netloom=${NETLOOM:-@program@}
file=@file@
folder=@folder@

command -v "$netloom" >/dev/null || {
    echo "cannot find $netloom: add it to PATH, or set NETLOOM to its path" >&2
    exit 1
}
[ -r "$file" ] || {
    echo "cannot read $file in $PWD: run this script in the folder where it was generated" >&2
    exit 1
}
