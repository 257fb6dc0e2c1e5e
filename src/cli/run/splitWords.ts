/**
 * The words of `--agent COMMAND`: divided by white space outside of quotes. Quotes are removed and may open inside a word;
 * a backslash is a backslash. product section 5, `run`.
 */

/** A string is what is wrong, to be put after the option's name. */
export const splitWords = (command: string): readonly [string, ...ReadonlyArray<string>] | string => {
  const words: Array<string> = []
  let word: string | undefined
  let quote: string | undefined
  for (const character of command) {
    if (quote !== undefined) {
      if (character === quote) quote = undefined
      else word += character
    } else if (character === "'" || character === '"') {
      quote = character
      word ??= ""
    } else if (/\s/.test(character)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else word = (word ?? "") + character
  }
  if (quote !== undefined) return "has an open quote"
  if (word !== undefined) words.push(word)
  const [first, ...rest] = words
  return first === undefined || first.trim() === "" ? "is blank" : [first, ...rest]
}
