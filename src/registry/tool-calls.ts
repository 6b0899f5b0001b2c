/**
 * Answers the tool calls in a model's reply, in the form of its provider. Errors become messages;
 * nothing is thrown.
 */

import type { Outcome } from '../protocol/outcome.ts'
import type { ProviderToolCall, ReadToolCalls } from '../protocol/providers/tool-calls.ts'
import { readToolCalls } from '../protocol/providers/tool-calls.ts'
import type { ToolMessage } from '../protocol/providers/tool-messages.ts'
import { renderToolMessage, restoreArguments } from '../protocol/providers/tool-messages.ts'
import { createFailureOutcome, ToolError } from '../protocol/tool-error.ts'
import { describeUnknownName, shorten } from '../util/text.ts'
import type { JsonObject, JsonSchema } from '../util/values.ts'

/** The tools that a model was given, by their exported names. */
export type CallableTools = {
  /** The names that were exported, for "did you mean". */
  names(): readonly string[]
  find(name: string): CallableTool | undefined
}

export type CallableTool = {
  inputSchema(): JsonSchema | Promise<JsonSchema>
  /** Never throws. `asked` is the call as the model made it. */
  call(input: JsonObject, asked: ProviderToolCall): Promise<Outcome>
}

/**
 * Answers the tool calls of a model: one message for a single call, and one per call, in order,
 * for a whole reply or a list. Errors become messages; never throws.
 */
export async function answerToolCall(
  said: unknown,
  tools: CallableTools,
): Promise<ToolMessage | ToolMessage[]> {
  let read: ReadToolCalls
  try {
    read = readToolCalls(said)
  } catch (error) {
    // The provider is unknown; this form is understood most widely.
    return renderToolMessage(
      'openai',
      { name: '' },
      createFailureOutcome((error as ToolError).toObject(), ''),
    )
  }
  const messages = await Promise.all(
    read.calls.map(async (call) =>
      renderToolMessage(call.provider, call, await answerSingleCall(call, tools)),
    ),
  )
  return read.isSingle ? messages[0]! : messages
}

/**
 * Runs one call. Errors, also those its tool throws, become a failed outcome, except errors for
 * which `raised` returns true.
 */
export async function answerSingleCall(
  call: ProviderToolCall,
  tools: CallableTools,
  raised: (error: unknown) => boolean = () => false,
): Promise<Outcome> {
  if (call.problem) return createFailureOutcome(call.problem, call.name)
  const tool = tools.find(call.name)
  if (!tool)
    return createFailureOutcome(toUnknownToolError(call.name, tools.names()).toObject(), call.name)
  try {
    return await tool.call(restoreArguments(await tool.inputSchema(), call.arguments), call)
  } catch (error) {
    if (raised(error)) throw error
    // An unusable schema is found out only here.
    const told = ToolError.is(error)
      ? error
      : new ToolError('INTERNAL', error instanceof Error ? error.message : String(error))
    return createFailureOutcome(told.toObject(), call.name)
  }
}

function toUnknownToolError(name: string, names: readonly string[]): ToolError {
  const { message, meant } = describeUnknownName('tool', name, names)
  if (names.length === 0)
    return new ToolError('NOT_FOUND', message, {
      suggestion: { action: 'abort', fix: 'You have no tools: answer without them' },
    })
  const fix = meant
    ? `Call '${meant}'`
    : `Call one of the tools that you were given: ${shorten(names.join(', '), 500)}`
  return new ToolError('NOT_FOUND', message, { suggestion: { action: 'use_different_tool', fix } })
}
