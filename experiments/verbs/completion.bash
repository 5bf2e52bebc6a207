# Completion of Isobar's programs for bash: source this file, or install it. Each program says itself what may come next.
_isobar_complete() {
  mapfile -t COMPREPLY < <("${COMP_WORDS[0]/#\~/$HOME}" --complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o bashdefault -o default -F _isobar_complete isobar centering decay_study depth_trainability fine_tuning \
  lm_norms logit_growth majority norm_jacobian norm_motives norm_properties norm_speed rank_collapse recurrent_norms train_lm \
  transformer_stack warmup
