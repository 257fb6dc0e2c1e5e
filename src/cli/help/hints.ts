/** What somebody at a terminal can do about a code of the agent or of the store. product section 1. */
const hints: { readonly [code: string]: string } = {
  session_not_found: "magi-code sessions lists those of this workspace",
  session_invalid: "magi-code doctor says which file is damaged",
  workspace_mismatch: "start it in that session's workspace",
  selection_invalid: "a model is named as PROVIDER/MODEL, by the settings",
  provider_unconfigured: "magi-code doctor says what the provider lacks",
  configuration_invalid: "correct it, then magi-code doctor tells what else is wrong"
}

/** A message with what to do, where there is something. */
export const withHint = (message: string, code: string | undefined): string => {
  const hint = code === undefined ? undefined : hints[code]
  return hint === undefined ? message : `${message}; ${hint}`
}
