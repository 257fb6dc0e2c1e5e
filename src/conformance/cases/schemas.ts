/** The subset of JSON Schema that input schemas are written in. docs/client-tools.md, section 2. */
import { admits, type Case, c, cite, type Json, type JsonObject, refusesAll, withSchema } from "../dsl.ts"

const clientTools = cite("client-tools")

const schemasByName = clientTools(
  "properties, $defs, definitions, patternProperties | an object whose values are schemas"
)
const keywordTable = [
  clientTools(
    "type | null, boolean, object, array, number, string or integer; or a nonempty array of different ones (not at the root)"
  ),
  schemasByName,
  clientTools("items, additionalProperties, not, contains, propertyNames | one schema; items as an array is refused"),
  clientTools("allOf, anyOf, oneOf, prefixItems | a nonempty array of schemas"),
  clientTools("required | an array of different strings"),
  clientTools("enum, examples | an array of anything"),
  clientTools("description, title, pattern, format, $comment | a string"),
  clientTools("minimum, maximum, exclusiveMinimum, exclusiveMaximum | a number"),
  clientTools("multipleOf | a number above 0"),
  clientTools(
    "minLength, maxLength, minItems, maxItems, minProperties, maxProperties, minContains, maxContains | an integer from 0; 2.0 is one"
  ),
  clientTools("uniqueItems, readOnly, writeOnly, deprecated | true or false")
]
const nestedSchemas = clientTools("A nested schema is an object of these keywords, or true or false.")
const unevaluated = clientTools(
  "Nothing is resolved, fetched, compiled or compared, so a minimum above the maximum, a pattern that is no regular expression and an unknown format are all accepted here."
)
const asData = clientTools(
  "What stands in enum, const, default and examples is data and not looked at as a schema; it counts for depth and bytes."
)

/** Values that each keyword must not have, in the schema of a property. */
const wrongValues: { readonly [keyword: string]: ReadonlyArray<Json> } = {
  type: ["objec", 5, [], ["string", "string"], ["string", "any"]],
  properties: [[], { a: 5 }, "x", true],
  $defs: [[], { a: null }],
  definitions: [5],
  patternProperties: [[], { a: "x" }],
  items: [[], 5, "x", null, [{}]],
  additionalProperties: ["no", null, 1],
  not: [[], null],
  contains: [5],
  propertyNames: ["x"],
  allOf: [{}, [], [5]],
  anyOf: [[], true],
  oneOf: [[], [null]],
  prefixItems: [[], {}, [1]],
  required: ["a", [1], ["a", "a"], {}],
  enum: [{}, "a"],
  examples: ["a", {}],
  description: [5, null],
  title: [[]],
  pattern: [1],
  format: [true],
  $comment: [{}],
  minimum: ["1", null],
  maximum: [[]],
  exclusiveMinimum: [true],
  exclusiveMaximum: ["0"],
  multipleOf: [0, -1, "1"],
  minLength: [-1, 1.5, "1"],
  maxLength: [null],
  minItems: [-1],
  maxItems: [0.5],
  minProperties: ["0"],
  maxProperties: [-5],
  minContains: [true],
  maxContains: [-1],
  uniqueItems: ["yes", 1],
  readOnly: [null],
  writeOnly: [0],
  deprecated: ["x"]
}

/** Schemas that a property may have; no more than 32 of them, for one registry. */
const rightSchemas: ReadonlyArray<JsonObject> = [
  { type: "string" },
  { type: ["string", "null"] },
  { properties: { a: true, b: {} } },
  { $defs: { x: { type: "integer" } }, definitions: { x: false } },
  { patternProperties: { "^(": {} } },
  { items: false },
  { additionalProperties: { type: "number" } },
  { not: true, contains: {} },
  { propertyNames: { pattern: "[" } },
  { allOf: [true], anyOf: [{}] },
  { oneOf: [{}, {}] },
  { prefixItems: [{}] },
  { required: [] },
  { required: ["zz"] },
  { enum: [1, 1, null] },
  { enum: [] },
  { const: null },
  { default: { $ref: "x" } },
  { examples: [] },
  { description: "", title: "t" },
  { format: "made-up" },
  { $comment: "$ref" },
  { minimum: -1.5, maximum: 2 },
  { minimum: 2, maximum: 1 },
  { exclusiveMinimum: 0 },
  { exclusiveMaximum: 1e10 },
  { multipleOf: 0.01 },
  { minLength: 0, maxLength: 5, minItems: 1, maxItems: 1 },
  { minProperties: 0, maxProperties: 3, minContains: 0, maxContains: 2 },
  { uniqueItems: true, readOnly: false, writeOnly: true, deprecated: false }
]

const unknown = [
  "$schema",
  "$ref",
  "$id",
  "$anchor",
  "$dynamicRef",
  "$vocabulary",
  "if",
  "then",
  "else",
  "dependentRequired",
  "dependentSchemas",
  "unevaluatedProperties",
  "unevaluatedItems",
  "contentEncoding",
  "nullable",
  "Type",
  "x-foo",
  ""
]

export const schemas: ReadonlyArray<Case> = [
  c("registry.root-type", clientTools('The root is an object with "type": "object".'), function* (t) {
    const roots = [
      "{}",
      '{"type":["object"]}',
      '{"type":"string"}',
      '{"type":null}',
      "true",
      "null",
      "[]",
      '"object"',
      '{"properties":{}}',
      '{"allOf":[{"type":"object"}]}',
      '{"type":["object","null"]}'
    ]
    yield* refusesAll(
      t,
      Object.fromEntries(
        roots.map((root) => [`root ${root}`, `[{"name":"client__a","description":"d","input_schema":${root}}]`])
      )
    )
  }),

  c(
    "registry.keyword-values",
    [...keywordTable, nestedSchemas],
    function* (t) {
      const of = (keyword: string, value: Json) => [withSchema({ properties: { p: { [keyword]: value } } })]
      const wrong = Object.entries(wrongValues).flatMap(([keyword, values]) =>
        values.map((value) => [`${keyword}: ${JSON.stringify(value)}`, of(keyword, value)] as const)
      )
      yield* refusesAll(t, Object.fromEntries(wrong))
    },
    { limit: 30_000 }
  ),

  c(
    "registry.keywords-accepted",
    [...keywordTable, clientTools("const, default | anything"), nestedSchemas, unevaluated],
    function* (t) {
      const tools = rightSchemas.map((schema, i) => withSchema({ properties: { p: schema } }, `t${i}`))
      yield* (yield* admits(t, tools)).eof
      const schema = '{"type":"object","minProperties":2.0}'
      yield* admits(t, `[{"name":"client__a","description":"d","input_schema":${schema}}]`)
    }
  ),

  c(
    "registry.unknown-keywords",
    clientTools(
      "Any other keyword is refused, $schema, $id, $ref and the conditional ones among them: what cannot be honoured is not passed over."
    ),
    function* (t) {
      const atRoot = unknown.map((keyword) => {
        const value = keyword.startsWith("$") ? "#" : {}
        return [`root ${keyword}`, [withSchema({ [keyword]: value })]] as const
      })
      yield* refusesAll(t, {
        ...Object.fromEntries(atRoot),
        "in items": [withSchema({ properties: { a: { items: { $ref: "#" } } } })],
        "in $defs": [withSchema({ $defs: { a: { $ref: "#" } } })],
        "in allOf": [withSchema({ allOf: [{}, { nullable: true }] })],
        "in additionalProperties": [withSchema({ additionalProperties: { $schema: "x" } })]
      })
    }
  ),

  c("registry.literals", [asData, schemasByName], function* (t) {
    const data = {
      default: { $ref: "#/x", type: 5 },
      const: { $schema: 1 },
      enum: [{ required: "x" }],
      examples: [{ nonsense: { $ref: [] } }]
    }
    const named = { $ref: {}, type: { type: "string" }, required: {}, $schema: true, properties: {}, enum: {} }
    yield* admits(t, [
      withSchema(data, "data"),
      withSchema({ properties: { ...named, nonsense: {} }, required: ["type", "required"] }, "named")
    ])
  })
]
