/**
 * Removes what a terminal or a reader would obey or be deceived by.
 *
 * base-protocol section 6, Redaction: C0 controls except LF, CR and tab, DEL, C1, escape sequences, bidirectional controls.
 */

/**
 * Escape sequences, as ECMA-48 and terminals have them. Each alternative is anchored at its introducer and its body is a
 * class that the introducer's terminator is not in, so that a match costs what it consumes. Parameters are bounded: an
 * unfinished sequence loses its introducer only (below), and never the text behind it.
 */
const escapeSequence = new RegExp(
  [
    // CSI: parameters, intermediates, final byte.
    "(?:\\u001b\\[|\\u009b)[0-?]{0,64}[ -/]{0,8}[@-~]",
    // OSC, DCS, SOS, PM, APC: a string up to BEL or ST.
    "(?:\\u001b[\\]PX^_]|[\\u009d\\u0090\\u0098\\u009e\\u009f])[^\\u0007\\u001b\\u0080-\\u009f]{0,4096}(?:\\u0007|\\u001b\\\\|\\u009c)",
    // Two and three character escapes: charset selection, keypad modes, save and restore cursor.
    "\\u001b[ -/]{1,4}[0-~]",
    "\\u001b[0-Z\\\\^-~]"
  ].join("|"),
  "g"
)

/** What is left of controls: C0 but tab, LF and CR; DEL; C1; Arabic letter mark, LRM, RLM, embeddings, overrides, isolates. */
const controls = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** Text without controls; LF, CR and tab stay. The same text again when there is nothing to remove. */
export const sanitize = (text: string): string => text.replace(escapeSequence, "").replace(controls, "")
