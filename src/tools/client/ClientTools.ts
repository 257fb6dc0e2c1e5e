/**
 * Client-provided tools as tools of the agent: what they do is the broker's. client-tools, Execute and reply.
 */
import { Effect } from "effect"
import { Broker, type BrokerShape } from "../../broker/Broker.ts"
import type { EffectiveDescriptor } from "../../protocol/Descriptor.ts"
import { fingerprint } from "../../protocol/Fingerprint.ts"
import type { AgentTool } from "../Tool.ts"

/**
 * One registered tool. Its arguments are not checked against its schema: the client does that. The broker records the
 * start while the call holds its slot, and answers an interruption with an ending of its own.
 */
const clientTool = (broker: BrokerShape, descriptor: EffectiveDescriptor): AgentTool => ({
  name: descriptor.name,
  description: descriptor.description,
  inputSchema: descriptor.input_schema,
  origin: "client",
  role: "generic",
  fingerprint: fingerprint(descriptor),
  compact: true,
  prepare: (args, context) =>
    Effect.succeed({
      approval: null,
      lines: [],
      settles: true,
      execute: broker.call({
        identity: {
          sessionId: context.sessionId,
          runId: context.runId,
          taskId: context.taskId,
          subagentId: context.subagentId
        },
        tool: descriptor,
        arguments: args,
        started: context.started,
        published: context.published,
        observed: context.observed
      })
    })
})

/** The registry in its order. */
export const make = (
  descriptors: ReadonlyArray<EffectiveDescriptor>
): Effect.Effect<ReadonlyArray<AgentTool>, never, Broker> =>
  Effect.map(Broker, (broker) => descriptors.map((descriptor) => clientTool(broker, descriptor)))
