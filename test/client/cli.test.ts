/** product section 5, `run`: the words of a command, escapes, the answer as it streams; section 1: options. */
import { assert, describe, it } from "@effect/vitest"
import { AnswerPrinter } from "../../src/cli/run/AnswerPrinter.ts"
import { escapeLine, escapeText } from "../../src/cli/run/escapeText.ts"
import { parse } from "../../src/cli/run/Options.ts"
import { splitWords } from "../../src/cli/run/splitWords.ts"
import { AnswerText } from "../../src/client/AnswerText.ts"

describe("--agent COMMAND", () => {
  it("is split on white space outside of quotes, which are removed and may open inside a word", () => {
    assert.deepStrictEqual(splitWords(`  node "a b" 'it "is"' x"y z"'w'\t"" \n`), [
      "node",
      "a b",
      'it "is"',
      "xy zw",
      ""
    ])
  })
  it("a backslash is literal", () => {
    assert.deepStrictEqual(splitWords('a\\ "b\\" c'), ["a\\", "b\\", "c"])
  })
  it("an open quote or a blank command is wrong usage", () => {
    for (const command of ["a 'b", 'a "b', "", "  ", '""', "'' x"]) assert.isString(splitWords(command), command)
  })
})

describe("options", () => {
  const usage = (...args: ReadonlyArray<string>) => parse(args)._tag
  it("what is wrong is wrong usage", () => {
    for (const args of [
      [],
      ["  "],
      ["a", "b"],
      ["--nope", "a"],
      ["--tools"],
      ["--tools", "--json", "a"],
      ["--tools", "a", "--tools", "b", "go"],
      ["--model", "nomodel", "a"],
      ["--model", "/m", "a"],
      ["--model", "p/", "a"],
      ["--session", "not an id", "a"],
      ["--approve", "maybe", "a"],
      ["--log-level", "loud", "a"],
      ["--agent", "'", "a"]
    ]) {
      assert.strictEqual(usage(...args), "Usage", args.join(" "))
    }
  })
  it("the rest is taken as it is", () => {
    const parsed = parse(["--json", "--model=p/a/b", "--session", "s.1", "--approve", "none", "--", "-prompt"])
    assert.deepInclude(parsed._tag === "Options" ? parsed.options : {}, {
      json: true,
      model: { provider: "p", model: "a/b" },
      session: "s.1",
      approve: "none",
      prompt: "-prompt",
      logLevel: "warn"
    })
    assert.strictEqual(usage("-"), "Options")
  })
})

describe("escapes", () => {
  it("all of Cc but LF and tab, and bidirectional controls, are shown", () => {
    const hostile = "a\u001b[31m\u0007\u009b\r\u0000\u007f\u202e\u2066\u200f\u061cz"
    assert.strictEqual(
      escapeText(hostile),
      "a\\u001b[31m\\u0007\\u009b\\u000d\\u0000\\u007f\\u202e\\u2066\\u200f\\u061cz"
    )
    assert.strictEqual(escapeText("a\n\tö😀"), "a\n\tö😀")
    assert.strictEqual(escapeLine("a\n\tb"), "a\\u000a\\u0009b")
  })
})

describe("the answer", () => {
  const printed = (steps: ReadonlyArray<readonly [string, string | ReadonlyArray<string>]>) => {
    let out = ""
    const printer = new AnswerPrinter((text) => {
      out += text
    })
    const run = { session_id: "s", run_id: "r" }
    for (const [message_id, said] of steps) {
      if (typeof said === "string") printer.delta({ ...run, message_id, text: said })
      else {
        for (const [part, text] of said.entries()) {
          printer.reconcile({ ...run, message_id, part, parts: said.length, text })
        }
      }
    }
    printer.end()
    return out
  }
  it("messages are separated by an empty line; what deltas missed is printed from the reconcile", () => {
    assert.strictEqual(
      printed([
        ["a", "Hel"],
        ["a", "lo"],
        ["a", ["Hello."]],
        ["b", ["Second", "."]],
        ["c", "x"]
      ]),
      "Hello.\n\nSecond.\n\nx\n"
    )
  })
  it("a reconcile that does not begin with what was streamed is printed whole after an empty line", () => {
    assert.strictEqual(
      printed([
        ["a", "Helo"],
        ["a", ["Hello."]]
      ]),
      "Helo\n\nHello.\n"
    )
  })
  it("a part that is not the next is passed over, whatever its number, and the first one begins anew", () => {
    const text = new AnswerText()
    let out = ""
    const printer = new AnswerPrinter((more) => {
      out += more
    })
    const take = (part: number, parts: number, said: string) => {
      const one = { session_id: "s", run_id: "r", message_id: "a", part, parts, text: said }
      printer.reconcile(one)
      return text.reconcile(one)
    }
    for (const parts of [2, 4_294_967_295, Number.MAX_SAFE_INTEGER]) {
      assert.isUndefined(take(parts - 1, parts, "hole"))
    }
    assert.isUndefined(take(0, 2, "old"))
    assert.isUndefined(take(0, 2, "A"))
    assert.strictEqual(take(1, 2, "B"), "AB")
    assert.strictEqual(out, "AB")
  })
  it("nothing is nothing, and an empty message is no message", () => {
    assert.strictEqual(printed([]), "")
    assert.strictEqual(
      printed([
        ["a", "x"],
        ["b", [""]],
        ["c", ["y"]]
      ]),
      "x\n\ny\n"
    )
  })
})
