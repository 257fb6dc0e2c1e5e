/**
 * Tools for `magi-code run --tools examples/tools.ts`: an `effect/ai` toolkit with the Layer of its handlers. The same
 * toolkit works with `LanguageModel` as it is.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { Tool, Toolkit } from "effect/ai"

const Record = Schema.Struct({
  record_id: Schema.String,
  title: Schema.String,
  status: Schema.Literals(["open", "closed"]),
  notes: Schema.Array(Schema.String)
})

/** What a handler may fail with: the model gets its message, and its encoded form as the structured value. */
class RecordNotFound extends Schema.TaggedError<RecordNotFound>()("RecordNotFound", {
  record_id: Schema.String
}) {
  override get message() {
    return `There is no record ${this.record_id}.`
  }
}

const LookupRecord = Tool.make("lookup_record", {
  description: "Look up a record by its identifier.",
  parameters: Schema.Struct({
    record_id: Schema.String.check(Schema.isPattern(/^R-[0-9]{1,6}$/u)).annotate({
      description: "The identifier, such as R-17."
    })
  }),
  success: Record,
  failure: RecordNotFound
}).annotate(Tool.Readonly, true)

const FindRecords = Tool.make("find_records", {
  description: "List all records whose title contains a word.",
  parameters: Schema.Struct({ word: Schema.String }),
  success: Schema.Array(Schema.Struct({ record_id: Schema.String, title: Schema.String }))
}).annotate(Tool.Readonly, true)

/** Changes something, so the user is asked first: with `--approve all` nobody is, with `none` it never runs. */
const AddNote = Tool.make("add_note", {
  description: "Append a note to a record.",
  parameters: Schema.Struct({ record_id: Schema.String, note: Schema.String }),
  success: Schema.Struct({ notes: Schema.Int }),
  failure: RecordNotFound,
  needsApproval: true
})

const toolkit = Toolkit.make(LookupRecord, FindRecords, AddNote)

/** Where the records are. A real one would ask a database, and close it when the layer is closed. */
class Records extends Context.Service<
  Records,
  {
    readonly all: Effect.Effect<ReadonlyArray<typeof Record.Type>>
    readonly get: (id: string) => Effect.Effect<typeof Record.Type, RecordNotFound>
    readonly addNote: (id: string, note: string) => Effect.Effect<number, RecordNotFound>
  }
>()("examples/Records") {
  static readonly layer = Layer.sync(Records, () => {
    const records = new Map<string, typeof Record.Type>([
      [
        "R-17",
        { record_id: "R-17", title: "Broken lamp in the hall", status: "open", notes: ["reported by the porter"] }
      ],
      ["R-23", { record_id: "R-23", title: "New lamp for the library", status: "closed", notes: [] }]
    ])
    const get = (id: string) =>
      Effect.suspend(() => {
        const found = records.get(id)
        return found === undefined ? Effect.fail(new RecordNotFound({ record_id: id })) : Effect.succeed(found)
      })
    return Records.of({
      all: Effect.sync(() => [...records.values()]),
      get,
      addNote: (id, note) =>
        Effect.map(get(id), (record) => {
          records.set(id, { ...record, notes: [...record.notes, note] })
          return record.notes.length + 1
        })
    })
  })
}

const handlers = toolkit.toLayer(
  Effect.gen(function* () {
    const records = yield* Records
    return toolkit.of({
      lookup_record: ({ record_id }) => records.get(record_id),
      find_records: ({ word }) =>
        Effect.map(records.all, (all) =>
          all
            .filter(({ title }) => title.toLowerCase().includes(word.toLowerCase()))
            .map(({ record_id, title }) => ({ record_id, title }))
        ),
      add_note: ({ note, record_id }) => Effect.map(records.addNote(record_id, note), (notes) => ({ notes }))
    })
  })
)

export default { toolkit, layer: Layer.provide(handlers, Records.layer) }
