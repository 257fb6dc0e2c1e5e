/** client-tools, Cancellation and permissions; base-protocol section 7. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as fc from "fast-check"
import { matches } from "../../src/agent/Pattern.ts"
import * as Permissions from "../../src/agent/Permissions.ts"
import type { DelegatedPermissions } from "../../src/store/DelegatedPermissions.ts"
import type { AgentTool } from "../../src/tools/Tool.ts"
import { builtin } from "./AgentHarness.ts"

const nothing = () => Effect.succeed({ text: "" })
const client = (name: string, fingerprint = `${name}-1`): AgentTool =>
  builtin(`client__${name}`, nothing, { origin: "client", fingerprint })
const own = (name: string) => builtin(name, nothing)

const names = (sets: Permissions.ToolSets) => ({
  direct: sets.direct.map((tool) => tool.name),
  code_mode: sets.code_mode.map((tool) => tool.name)
})

const open = { disabled: [], code_mode: { enabled: true, compact_direct_tools: false, disabled: [] } }
const tools = ["read", "find", "list_files", "grep", "bash", "subagents", "code_mode"].map(own)
const all = Permissions.configured([...tools, client("a"), client("b")], open)
const saved = (sets: Permissions.ToolSets, more: Partial<DelegatedPermissions> = {}): DelegatedPermissions => ({
  ...Permissions.toSave(sets, { mode: "standard", profile: null, depth: 1 }),
  ...more
})

describe("patterns", () => {
  it("match exact names, and * any run of characters", () => {
    for (const [pattern, name, wanted] of [
      ["read", "read", true],
      ["read", "client__read", false],
      ["read", "Read", false],
      ["*", "", true],
      ["client__*", "client__a", true],
      ["client__*", "xclient__a", false],
      ["*a*a", "banana", true],
      ["*a*b", "banana", false],
      ["a.c", "abc", false],
      ["a?c", "abc", false],
      ["", "a", false],
      ["mcp__*__echo", "mcp__kit__echo", true]
    ] as const) {
      assert.strictEqual(matches(pattern, name), wanted, `${pattern} ${name}`)
    }
  })

  it("agree with the regular expression that says the same", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "b", "*"), maxLength: 8 })
    const plain = fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 10 })
    fc.assert(
      fc.property(text, plain, (pattern, name) => {
        const expression = new RegExp(`^${pattern.replaceAll("*", ".*")}$`)
        assert.strictEqual(matches(pattern, name), expression.test(name))
      })
    )
  })
})

describe("what the settings leave", () => {
  it("keeps the two surfaces apart, and no script starts a script", () => {
    const sets = Permissions.configured([own("one"), own("code_mode"), client("a")], {
      disabled: ["one"],
      code_mode: { enabled: true, compact_direct_tools: false, disabled: ["client__*"] }
    })
    assert.deepStrictEqual(names(sets), { direct: ["code_mode", "client__a"], code_mode: ["one"] })
  })

  it("without Code Mode there is neither the tool nor its surface", () => {
    const sets = Permissions.configured([own("one"), own("code_mode")], {
      disabled: [],
      code_mode: { enabled: false, compact_direct_tools: false, disabled: [] }
    })
    assert.deepStrictEqual(names(sets), { direct: ["one"], code_mode: [] })
  })

  it("nothing but a client tool is named client__…, and no name twice", () => {
    const impostor = builtin("client__x", nothing, { origin: "mcp" })
    const sets = Permissions.configured([own("one"), impostor, own("one"), client("a"), client("a", "other")], open)
    assert.deepStrictEqual(names(sets).direct, ["one", "client__a"])
    assert.strictEqual(sets.direct[1]?.fingerprint, "a-1")
  })
})

describe("subagents", () => {
  it("inspect gets only read, find, list_files and grep, directly", () => {
    assert.deepStrictEqual(names(Permissions.inspection(all)), {
      direct: ["read", "find", "list_files", "grep"],
      code_mode: []
    })
  })

  it("a profile restricts both surfaces; without one nothing changes", () => {
    const narrow = Permissions.withinProfile(all, { instructions: "", tools: ["client__a", "read"] })
    assert.deepStrictEqual(names(narrow), { direct: ["read", "client__a"], code_mode: ["read", "client__a"] })
    assert.deepStrictEqual(names(Permissions.withinProfile(all, undefined)), names(all))
    assert.deepStrictEqual(names(Permissions.withinProfile(all, { instructions: "", tools: null })), names(all))
    assert.deepStrictEqual(names(Permissions.withinProfile(all, { instructions: "", tools: [] })).direct, [])
  })

  it("a chain of profiles never gives back what one of them took", () => {
    const pattern = fc.constantFrom("*", "client__*", "client__a", "read", "code_mode", "b*")
    fc.assert(
      fc.property(fc.array(fc.array(pattern, { maxLength: 3 }), { maxLength: 4 }), (profiles) => {
        let sets = all
        for (const list of profiles) {
          const next = Permissions.withinProfile(sets, { instructions: "", tools: list })
          for (const surface of ["direct", "code_mode"] as const) {
            assert.isTrue(next[surface].every((tool) => sets[surface].includes(tool)))
          }
          sets = next
        }
      })
    )
  })

  it("at the greatest depth there are no subagents", () => {
    assert.include(names(Permissions.atDepth(all, 1)).direct, "subagents")
    assert.notInclude(names(Permissions.atDepth(all, 2)).direct, "subagents")
    assert.notInclude(names(Permissions.atDepth(all, 2)).code_mode, "subagents")
  })
})

describe("saved permissions on resume", () => {
  const resume = (permissions: DelegatedPermissions | "absent" | "damaged", sets = all, profiles = new Map()) =>
    Permissions.ofSession({ _tag: "Delegated", permissions }, sets, profiles)

  it("lists every tool, with a fingerprint for client tools and null for others", () => {
    assert.deepStrictEqual(saved(all).direct.at(-1), { name: "client__b", fingerprint: "b-1" })
    assert.deepStrictEqual(saved(all).direct[0], { name: "read", fingerprint: null })
  })

  it("new, removed and changed tools are unavailable, on each surface for itself", () => {
    const current = Permissions.configured(
      [...tools, own("new"), client("a"), client("b", "changed"), client("c")],
      open
    )
    const kept = saved(all, { code_mode: [{ name: "read", fingerprint: null }] })
    assert.deepStrictEqual(names(resume(kept, current).tools), {
      direct: ["read", "find", "list_files", "grep", "bash", "subagents", "code_mode", "client__a"],
      code_mode: ["read"]
    })
  })

  it("a client tool saved without a fingerprint, or another tool saved with one, is unavailable", () => {
    const odd = saved(all, {
      direct: [
        { name: "client__a", fingerprint: null },
        { name: "read", fingerprint: "a-1" }
      ]
    })
    assert.deepStrictEqual(names(resume(odd).tools).direct, [])
  })

  it("current restrictions hold as well, the present profile among them", () => {
    const profiles = new Map([["p", { instructions: "", tools: ["read"] }]])
    assert.deepStrictEqual(names(resume(saved(all, { profile: "p" }), all, profiles).tools).direct, ["read"])
    const fewer = Permissions.configured([...tools, client("a")], { ...open, disabled: ["bash"] })
    assert.notInclude(names(resume(saved(all), fewer).tools).direct, "bash")
  })

  it("inspect stays inspect; depth stays depth", () => {
    assert.deepStrictEqual(names(resume(saved(all, { mode: "inspect" })).tools), {
      direct: ["read", "find", "list_files", "grep"],
      code_mode: []
    })
    assert.notInclude(names(resume(saved(all, { depth: 2 })).tools).direct, "subagents")
  })

  it("nothing saved: no client tool; damaged: what inspect gets; top-level: the current registry", () => {
    const without = names(resume("absent").tools)
    assert.isFalse([...without.direct, ...without.code_mode].some((name) => name.startsWith("client__")))
    assert.include(without.direct, "bash")
    assert.deepStrictEqual(names(resume("damaged").tools), names(Permissions.inspection(all)))
    assert.strictEqual(resume("damaged").mode, "inspect")
    assert.deepStrictEqual(names(Permissions.ofSession({ _tag: "TopLevel" }, all, new Map()).tools), names(all))
  })
})
