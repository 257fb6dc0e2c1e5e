/** client-tools ("Client must validate actual arguments"); product section 5: the pointer of a mismatch, and no values. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import { makeCompiler, mismatchText } from "../../src/client/ArgumentsSchema.ts"
import type { JsonObject } from "../../src/protocol/Json.ts"

const compiled = (schema: JsonObject) =>
  Effect.map(makeCompiler, (compiler) => Result.getOrThrow(compiler.compile(schema)))

/** The pointer of the mismatch; `undefined`: the arguments match. Arguments as JSON text, so that every key is their own. */
const pointers = (schema: string, args: Readonly<Record<string, string | undefined>>) =>
  it.effect(schema, () =>
    Effect.gen(function* () {
      const { mismatch } = yield* compiled(JSON.parse(schema))
      for (const [text, wanted] of Object.entries(args)) {
        assert.strictEqual(mismatch(JSON.parse(text))?.path, wanted, text)
      }
    })
  )

describe("the pointer of a mismatch names the wrong value", () => {
  pointers(
    '{"type":"object","properties":{"id":{"type":"string","minLength":2}},"required":["id"],"additionalProperties":false}',
    {
      '{"id":"ab"}': undefined,
      '{"id":5}': "/id",
      '{"id":"a"}': "/id",
      // for `required` and `additionalProperties` the containing object; the root is ""
      "{}": "",
      '{"id":"ab","more":1}': ""
    }
  )
  pointers(
    '{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"array","items":{"type":"integer"}}},"required":["b"]}}}',
    {
      '{"a":{"b":[1,2.0]}}': undefined,
      '{"a":{"b":[1,"x"]}}': "/a/b/1",
      '{"a":{}}': "/a",
      '{"a":{"b":5}}': "/a/b"
    }
  )
  pointers('{"type":"object","additionalProperties":{"type":"integer"}}', { '{"a/b~c":"x"}': "/a~1b~0c" })
  pointers('{"type":"object","properties":{"x":{"anyOf":[{"type":"string"},{"type":"object","required":["k"]}]}}}', {
    '{"x":"s"}': undefined,
    '{"x":{}}': "/x",
    '{"x":5}': "/x"
  })
  pointers('{"type":"object","propertyNames":{"pattern":"^[a-z]+$"}}', { '{"a":1}': undefined, '{"A":1}': "" })
  pointers('{"type":"object","properties":{"l":{"contains":{"const":1},"minContains":2}}}', {
    '{"l":[1,0,1]}': undefined,
    '{"l":[1,0]}': "/l"
  })
  pointers('{"type":"object","properties":{"l":{"prefixItems":[{"type":"string"}],"items":false}}}', {
    '{"l":["a"]}': undefined,
    // too many items: what contains them, as with `additionalProperties`
    '{"l":["a",1]}': "/l"
  })
})

describe("keys are data", () => {
  const odd =
    '{"type":"object","properties":{"__proto__":{"type":"string"},"toString":{"type":"integer"}},"required":["__proto__","toString"],"additionalProperties":false}'
  pointers(odd, {
    '{"__proto__":"x","toString":1}': undefined,
    '{"__proto__":1,"toString":1}': "/__proto__",
    '{"toString":1}': "",
    "{}": ""
  })
  pointers('{"type":"object","patternProperties":{"__proto__":{"type":"string"}}}', {
    '{"a__proto__":1}': "/a__proto__",
    '{"constructor":1}': undefined
  })
  pointers('{"type":"object","properties":{"v":{"enum":[{"valueOf":null},{"constructor":1}]}}}', {
    '{"v":{"valueOf":null}}': undefined,
    '{"v":{"valueOf":1}}': "/v",
    '{"v":{"constructor":1}}': undefined,
    '{"v":{}}': "/v"
  })
  pointers(
    '{"type":"object","properties":{"lit":{"default":{"$ref":"#"},"examples":[{"$id":1},{"$id":"x"}],"$comment":"c"}},"$defs":{"$id":{"type":"string"}}}',
    {
      '{"lit":1}': undefined
    }
  )
})

describe("values", () => {
  pointers('{"type":"object","properties":{"n":{"multipleOf":0.1},"big":{"multipleOf":7}}}', {
    '{"n":0.3}': undefined,
    '{"n":1.15}': "/n",
    '{"big":7e22}': undefined,
    '{"big":1e300}': "/big",
    '{"n":-0.7}': undefined,
    '{"n":0}': undefined
  })
  pointers('{"type":"object","properties":{"l":{"uniqueItems":true}}}', {
    '{"l":[{"a":1,"b":2},{"b":2,"a":1}]}': "/l",
    '{"l":[1,1.0]}': "/l",
    '{"l":[1,"1",[1],{"1":1},true,null]}': undefined
  })
  // format is an annotation
  pointers('{"type":"object","properties":{"d":{"format":"date"},"x":{"format":"no-such-format"}}}', {
    '{"d":"never","x":"y"}': undefined
  })
  pointers('{"type":"object","properties":{"s":{"maxLength":2}}}', {
    '{"s":"😀😀"}': undefined,
    '{"s":"😀😀😀"}': "/s"
  })

  it.effect("ten thousand unique items are compared in no time", () =>
    Effect.gen(function* () {
      const { mismatch } = yield* compiled({ type: "object", properties: { l: { uniqueItems: true } } })
      const started = performance.now()
      assert.isUndefined(mismatch({ l: Array.from({ length: 10_000 }, (_, n) => ({ n })) }))
      assert.isBelow(performance.now() - started, 1000)
    })
  )

  it.effect("the text has the pointer and no value", () =>
    Effect.gen(function* () {
      const { mismatch } = yield* compiled({
        type: "object",
        properties: { id: { pattern: "^[a-z]+$" }, tag: { enum: ["red"] }, n: { maximum: 3 } },
        additionalProperties: false
      })
      for (const args of [{ id: "SECRET-1" }, { tag: "SECRET-1" }, { n: 98_765 }, { "SECRET-1": "SECRET-1" }]) {
        const found = mismatch(args)
        assert.isDefined(found)
        if (found) assert.notMatch(mismatchText(found), /SECRET|98765/)
      }
    })
  )
})

describe("a pattern that does not compile refuses the schema, with its pointer", () => {
  for (const [schema, path] of [
    ['{"type":"object","properties":{"x":{"pattern":"^(unclosed"}}}', "/properties/x/pattern"],
    ['{"type":"object","patternProperties":{"(?=/)":true}}', "/patternProperties/(?=~1)"],
    ['{"type":"object","$defs":{"d":{"anyOf":[{"pattern":"["}]}}}', "/$defs/d/anyOf/0/pattern"]
  ] as const) {
    it.effect(path, () =>
      Effect.gen(function* () {
        const result = (yield* makeCompiler).compile(JSON.parse(schema))
        assert.strictEqual(Result.isFailure(result) ? result.failure.path : "", path)
      })
    )
  }
  it.effect("a pattern inside of a literal is no pattern", () =>
    compiled({ type: "object", properties: { x: { enum: [{ pattern: "[" }], default: { pattern: "[" } } } })
  )
})
