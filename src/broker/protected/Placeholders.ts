/** Texts that stand where a token would: `ghp_xxxxxxxx…`, `****`. Redacting them would only spoil documentation. */

/** True if the token is mostly `x`, `*` or `#`. Fakes made of another repeated letter are not told from secrets. */
export const isPlaceholder = (token: string): boolean => {
  if (/[xX]{16}/.test(token)) return true
  const filler = token.replace(/[^xX*#.…-]/g, "").length
  return /[xX*#.]{6}/.test(token) && filler * 4 >= token.length * 3
}
