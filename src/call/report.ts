import { wholeText } from '../contract/providers/outcome-text.ts'
import type { ToolInvokedEvent } from '../contract/events.ts'
import type { Outcome } from '../contract/outcome.ts'
import type { ToolDefinition } from '../define/tool-type.ts'
import { longId } from './ask.ts'
import { asHost } from './exit-guard.ts'
import type { CallOptions } from './options.ts'
import { withPatience } from './patience.ts'
import { showInput, showOutcome } from './redact.ts'

const LONGEST_RENDERED = 1000

/** Tells whoever listens of a finished call; throws what the listener throws, and TIMEOUT when it takes no end. `input` is absent where what was given was refused. */
export async function report(definition: ToolDefinition, given: unknown, input: { readonly value: unknown } | undefined, outcome: Outcome, { onEvent, caller, state, invocation: about = {} }: CallOptions): Promise<void> {
  if (!onEvent) return
  const shown = showOutcome(definition, outcome)
  const event: ToolInvokedEvent = {
    type: 'tool_invoked',
    event_id: longId(),
    tool: definition.name,
    input: showInput(definition, input ? input.value : given),
    outcome: shown,
    rendered_output: wholeText(shown).slice(0, LONGEST_RENDERED),
    ...(!input && given !== undefined && { raw_arguments: showInput(definition, given) }),
    ...(caller !== undefined && { caller }),
    ...(state && { session_id: state.id }),
    ...(about.callId !== undefined && { call_id: about.callId }),
    ...(about.promptName !== undefined && { prompt_name: about.promptName }),
    ...(about.adapter !== undefined && { adapter: about.adapter }),
    ...(about.usage && { usage: about.usage }),
    ...(about.run && { run_context: about.run }),
    ts: new Date().toISOString(),
  }
  await withPatience(asHost(() => onEvent(event)))
}
