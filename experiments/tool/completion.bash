# Completion for bash: source this file, or install it. Each program says itself what may come next.
_isobar_complete() {
  mapfile -t COMPREPLY < <("${COMP_WORDS[0]/#\~/$HOME}" --complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o bashdefault -o default -F _isobar_complete isobar @names@
