/** What a terminal may be shown: colours unless `NO_COLOR` is set, signs beyond ASCII where the locale is UTF-8. */
import { styleText } from "node:util"

export type Paint = "good" | "bad" | "warn" | "accent" | "dim"

export interface Style {
  readonly paint: (as: Paint, text: string) => string
  readonly good: string
  readonly bad: string
  readonly cancelled: string
  readonly waiting: string
  readonly more: string
  /** One after the other while something runs. */
  readonly spinner: ReadonlyArray<string>
  /** A part of a bar that is over, and one that is left. */
  readonly bar: readonly [over: string, left: string]
}

const unicode = {
  good: "✓",
  bad: "✗",
  cancelled: "■",
  waiting: "·",
  more: "…",
  spinner: [..."⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"],
  bar: ["━", "─"]
} as const

const ascii = {
  good: "+",
  bad: "-",
  cancelled: "x",
  waiting: ".",
  more: "...",
  spinner: [..."|/-\\"],
  bar: ["#", "."]
} as const

const colours = { good: "green", bad: "red", warn: "yellow", accent: "cyan", dim: "dim" } as const

/** Reads the environment. An empty `NO_COLOR` says nothing (no-color.org). */
export const styleOf = (env: { readonly [name: string]: string | undefined }): Style => {
  const locale = env["LC_ALL"] || env["LC_CTYPE"] || env["LANG"] || ""
  const signs = /utf-?8/i.test(locale) && env["TERM"] !== "linux" ? unicode : ascii
  return {
    ...signs,
    paint: env["NO_COLOR"] ? (_, text) => text : (as, text) => styleText(colours[as], text, { validateStream: false })
  }
}
