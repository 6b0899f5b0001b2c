import type { Interaction } from '../contract/interaction.ts'
import { ToolError } from '../contract/tool-error.ts'
import type { ToolDefinition } from '../define/tool-type.ts'
import { asHost } from './exit-guard.ts'
import { randomId } from './ids.ts'
import type { CallOptions } from './options.ts'
import { showInput } from './redact.ts'
import type { RunningCall } from './running.ts'

/** Asks for consent to a destructive call; throws PERMISSION when somebody declined, and CONFIRMATION_REQUIRED when nobody was there to decide. */
export async function confirm(
  definition: ToolDefinition,
  input: unknown,
  { confirm: consent = true }: CallOptions,
  call: RunningCall,
): Promise<void> {
  if (consent === true) return
  const question: Interaction = {
    id: randomId(),
    kind: 'confirm',
    prompt: `${definition.name} is destructive. Run it with ${JSON.stringify(showInput(definition, input))}?`,
    default: false,
  }
  const decision =
    typeof consent === 'function'
      ? await call.wait(() => asHost(() => consent(question)))
      : undefined
  if (decision === true) return
  if (decision === false)
    throw new ToolError(
      'PERMISSION',
      `'${definition.name}' was not run: its confirmation was declined`,
      { suggestion: { action: 'abort', fix: 'Do not call it again unless the user asks for it' } },
    )
  throw new ToolError(
    'CONFIRMATION_REQUIRED',
    `tool '${definition.name}' is destructive and was not confirmed`,
    { suggestion: 'Ask the user; then confirm the call' },
  )
}

/** Waits for the next answer in a session; undefined when nobody answers any more. */
export async function askInSession(
  definition: ToolDefinition,
  prompt: string,
  { answer }: CallOptions,
  call: RunningCall,
): Promise<unknown> {
  if (!answer)
    throw new ToolError(
      'ANSWER_REQUIRED',
      `tool '${definition.name}' is a session and nobody can answer it`,
      { suggestion: 'Run it with --session and answer with one JSON object a line' },
    )
  return call.wait(() =>
    asHost(() => answer({ id: randomId(), kind: 'input', prompt, dialogue: true }, call.signal)),
  )
}
