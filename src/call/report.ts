import { wholeText } from '../contract/providers/outcome-text.ts'
import type { Invocation, ToolInvokedEvent } from '../contract/events.ts'
import type { Outcome } from '../contract/outcome.ts'
import type { ToolDefinition } from '../define/tool-type.ts'
import { asHost } from './exit-guard.ts'
import { longId } from './ids.ts'
import type { CallOptions } from './options.ts'
import { withPatience } from './patience.ts'
import { showInput, showOutcome } from './redact.ts'

const LONGEST_RENDERED = 1000

type Unfinished = { -readonly [Field in keyof ToolInvokedEvent]?: ToolInvokedEvent[Field] }

/** Tells whoever listens of a finished call, at once where the listener has nothing to wait for; throws what the listener throws, and TIMEOUT when it takes no end. `input` is absent where what was given was refused. */
export function report(
  definition: ToolDefinition,
  given: unknown,
  input: { readonly value: unknown } | undefined,
  outcome: Outcome,
  options: CallOptions,
): void | Promise<void> {
  const { onEvent } = options
  if (!onEvent) return
  const event = describe(definition, given, input, outcome, options)
  return withPatience(asHost(() => onEvent(event)))
}

// Not by spreading, which would cost more than all the rest. The order of the keys is part of the wire form.
function describe(
  definition: ToolDefinition,
  given: unknown,
  input: { readonly value: unknown } | undefined,
  outcome: Outcome,
  { caller, state, invocation: about }: CallOptions,
): ToolInvokedEvent {
  const shown = showOutcome(definition, outcome)
  const event: Unfinished = {
    type: 'tool_invoked',
    event_id: longId(),
    tool: definition.name,
    input: showInput(definition, input ? input.value : given),
    outcome: shown,
    rendered_output: wholeText(shown).slice(0, LONGEST_RENDERED),
  }
  if (!input && given !== undefined) event.raw_arguments = showInput(definition, given)
  if (caller !== undefined) event.caller = caller
  if (state) event.session_id = state.id
  if (about) addInvocation(event, about)
  event.ts = timestamp()
  return event as ToolInvokedEvent
}

function addInvocation(
  event: Unfinished,
  { callId, promptName, adapter, usage, run }: Invocation,
): void {
  if (callId !== undefined) event.call_id = callId
  if (promptName !== undefined) event.prompt_name = promptName
  if (adapter !== undefined) event.adapter = adapter
  if (usage) event.usage = usage
  if (run) event.run_context = run
}

let latest = { at: -1, text: '' }

// Many calls end in the same millilatest, and to write it down costs as much as to check an input.
function timestamp(): string {
  const at = Date.now()
  if (at !== latest.at) latest = { at, text: new Date(at).toISOString() }
  return latest.text
}
