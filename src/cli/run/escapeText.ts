/**
 * Text of agents, models and tools for a terminal: nothing in it can move the cursor, set a title or turn text around.
 * product section 5, `run` ("all of Cc but LF and tab and bidirectional controls are shown escaped").
 */

const unsafe = /(?![\n\t])\p{Cc}|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

const shown = (character: string): string => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`

/** With its lines and tabs. */
export const escapeText = (text: string): string => text.replace(unsafe, shown)

/** On one line: for names and messages inside a line of our own. */
export const escapeLine = (text: string): string => escapeText(text).replace(/[\n\t\u2028\u2029]/g, shown)
