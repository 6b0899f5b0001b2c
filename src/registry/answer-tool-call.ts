import type { JsonObject, JsonSchema } from '../contract/json.ts'
import type { Outcome } from '../contract/outcome.ts'
import { readToolCalls } from '../contract/providers/read-call.ts'
import type { ReadCalls } from '../contract/providers/read-call.ts'
import { renderToolMessage } from '../contract/providers/render-message.ts'
import type { ToolMessage } from '../contract/providers/render-message.ts'
import { restoreArguments } from '../contract/providers/restore-arguments.ts'
import { failedCall } from '../contract/providers/tool-call.ts'
import type { ToolCall } from '../contract/providers/tool-call.ts'
import { shorten } from '../contract/shorten.ts'
import { ToolError } from '../contract/tool-error.ts'
import { unknownName } from '../contract/unknown-name.ts'

/** The tools that a model was given, by their exported names. */
export type CallableTools = {
  /** The names that were exported, for "did you mean". */
  names(): readonly string[]
  find(name: string): CallableTool | undefined
}

export type CallableTool = {
  inputSchema(): JsonSchema | Promise<JsonSchema>
  /** Never throws. `asked` is the call as the model made it. */
  call(input: JsonObject, asked: ToolCall): Promise<Outcome>
}

/** Answers what a model said: one tool message for one call; for a whole reply or a list, a message for each call in it, in order. Whatever is wrong is told in the message; it never throws. */
export async function answerToolCall(
  said: unknown,
  tools: CallableTools,
): Promise<ToolMessage | ToolMessage[]> {
  let read: ReadCalls
  try {
    read = readToolCalls(said)
  } catch (error) {
    // Nobody knows whose form it should have; this one is read most widely.
    return renderToolMessage(
      'openai',
      { name: '' },
      failedCall({ name: '' }, (error as ToolError).toObject()),
    )
  }
  const messages = await Promise.all(
    read.calls.map(async (call) =>
      renderToolMessage(call.provider, call, await answerOne(call, tools)),
    ),
  )
  return read.isSingle ? messages[0]! : messages
}

/** Runs one call. Whatever is wrong with it is told in the outcome, and so is what its tool throws, unless that is to be `raised`. */
export async function answerOne(
  call: ToolCall,
  tools: CallableTools,
  raised: (error: unknown) => boolean = () => false,
): Promise<Outcome> {
  if (call.problem) return failedCall(call, call.problem)
  const tool = tools.find(call.name)
  if (!tool) return failedCall(call, unknownTool(call.name, tools.names()).toObject())
  try {
    return await tool.call(restoreArguments(await tool.inputSchema(), call.arguments), call)
  } catch (error) {
    if (raised(error)) throw error
    // A tool whose schema cannot be used is found out only now.
    const told = ToolError.is(error)
      ? error
      : new ToolError('INTERNAL', error instanceof Error ? error.message : String(error))
    return failedCall(call, told.toObject())
  }
}

function unknownTool(name: string, names: readonly string[]): ToolError {
  const { message, meant } = unknownName('tool', name, names)
  if (names.length === 0)
    return new ToolError('NOT_FOUND', message, {
      suggestion: { action: 'abort', fix: 'You have no tools: answer without them' },
    })
  const fix = meant
    ? `Call '${meant}'`
    : `Call one of the tools that you were given: ${shorten(names.join(', '), 500)}`
  return new ToolError('NOT_FOUND', message, { suggestion: { action: 'use_different_tool', fix } })
}
