/**
 * One turn: the instructions and tools offered to the model, the request with retries, and what it
 * cost.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import type { CallOptions } from '../core/call.ts'
import { toLookupKey } from '../core/call.ts'
import { toToolError } from '../core/errors.ts'
import { runUntilAborted } from '../core/lifecycle.ts'
import type { ToolEntry } from '../core/provider.ts'
import { collectTools } from '../core/provider.ts'
import { invokeTool } from '../core/tool.ts'
import type { Outcome } from '../protocol/outcome.ts'
import type { ExportedTool } from '../protocol/providers/export-tools.ts'
import type { State } from '../protocol/state.ts'
import { ToolError } from '../protocol/tool-error.ts'
import type { RegistryEntry } from '../registry/catalog.ts'
import { selectEntries } from '../registry/filter.ts'
import { indexByExportName, toExportName } from '../registry/names.ts'
import { isServable } from '../registry/sources/in-process.ts'
import type { JsonObject } from '../util/values.ts'
import { compact, isObject } from '../util/values.ts'
import type { AgentRun } from './agent-run.ts'
import type { AgentOptions, ModelCall, ModelReply, ModelRequest } from './types.ts'

const DEFAULT_RETRIES = 3
const FIRST_RETRY_DELAY_S = 0.5
const MAX_RETRY_DELAY_S = 60
/** A rough average. */
const CHARS_PER_TOKEN = 4

/** Requests the next reply of the model. Retries are safe: no call of a failed reply has run. */
export async function requestTurn(run: AgentRun, setup: TurnSetup): Promise<ModelReply> {
  const { model, retries = DEFAULT_RETRIES, settings } = run.options
  const request: ModelRequest = {
    ...settings,
    messages: [
      ...(setup.system === undefined ? [] : [{ role: 'system' as const, text: setup.system }]),
      ...run.messages,
    ],
    tools: setup.tools,
  }
  for (let attempt = 1; ; attempt += 1) {
    let streamed = 0
    let over = false
    const onText = (delta: string): void => {
      // A model may still send text after it was aborted.
      if (over || typeof delta !== 'string' || delta === '') return
      streamed += delta.length
      run.emit({ type: 'text', turn: run.turns, delta })
    }
    try {
      return parseModelReply(
        await runUntilAborted(run.signal, () =>
          model.generate(request, { signal: run.signal, onText }),
        ),
        model.name,
      )
    } catch (thrown) {
      run.signal.throwIfAborted()
      const error = toToolError(thrown)
      const wait = getRetryDelayS(error, attempt)
      if (!error.retryable || attempt > retries || wait > MAX_RETRY_DELAY_S) throw error
      run.emit({
        type: 'retry',
        turn: run.turns,
        attempt,
        wait_s: wait,
        discarded: streamed,
        error: error.toObject(),
      })
      await sleep(wait * 1000, undefined, { signal: run.signal }).catch(() =>
        run.signal.throwIfAborted(),
      )
    } finally {
      over = true
    }
  }
}

/** Returns the usage of a turn, estimated by its length when the model does not report it. */
export function estimateUsage(
  reply: ModelReply,
  asked: ModelRequest['messages'],
): {
  readonly usage: { readonly input: number; readonly output: number }
  readonly estimated: boolean
} {
  const input = toTokenCount(reply.usage?.input)
  const output = toTokenCount(reply.usage?.output)
  const estimate = (value: unknown): number =>
    Math.ceil(JSON.stringify(value).length / CHARS_PER_TOKEN)
  return {
    usage: {
      input: input ?? estimate(asked),
      output: output ?? estimate([reply.text, reply.calls]),
    },
    estimated: input === undefined || output === undefined,
  }
}

function toTokenCount(tokens: unknown): number | undefined {
  return typeof tokens === 'number' && Number.isFinite(tokens) && tokens >= 0 ? tokens : undefined
}

function getRetryDelayS({ details }: ToolError, attempt: number): number {
  const wanted = details?.['retry_after_s']
  return typeof wanted === 'number' && wanted >= 0
    ? wanted
    : FIRST_RETRY_DELAY_S * 2 ** (attempt - 1) * (1 + Math.random() / 4)
}

/** Checks the reply of a model, which may be foreign code. Throws DEPENDENCY. */
export function parseModelReply(given: unknown, name: string): ModelReply {
  const bad = (what: string): ToolError =>
    new ToolError('DEPENDENCY', `the model '${name}' gave ${what}`, {
      retryable: false,
      suggestion: 'generate() of a model gives { text, calls }',
    })
  if (!isObject(given)) throw bad('no reply')
  const { text = '', calls = [] } = given
  if (typeof text !== 'string') throw bad('a text that is none')
  if (!Array.isArray(calls) || !calls.every(isObject))
    throw bad('calls that are no list of objects')
  return { ...given, text, calls: calls as unknown as readonly ModelCall[] }
}

/** Instructions and tools of one turn. */
export type TurnSetup = {
  readonly system: string | undefined
  readonly tools: readonly ExportedTool[]
  readonly names: readonly string[]
  /** Finds a tool by the name that the model uses. */
  find(name: string): TurnTool | undefined
  /** The prompt of the turn. */
  readonly promptName?: string
  /** Opens sections of that prompt, for the turns that follow. */
  open?(keys: readonly string[]): void
}

type TurnTool = {
  readonly entry: ToolEntry
  /** Throws only what ends a run, or opens sections. */
  call(input: JsonObject, options: CallOptions): Promise<Outcome>
}

/** Prepares a turn: tools and instructions may change between turns. */
export type PrepareTurn = () => Promise<TurnSetup>

/** Creates the function that finds the tools and instructions of an agent. */
export function createTurnPreparer(
  { registry, tools, prompt, params, filter, system }: AgentOptions,
  state: State | undefined,
): PrepareTurn {
  if (prompt) {
    return async () => {
      const rendered = await prompt.render(params as never, compact({ state }))
      const text = [system, rendered.text]
        .filter((part) => part !== undefined && part !== '')
        .join('\n\n')
      return {
        ...(await createTurnSetup(rendered.tools, text, ({ name }, input, options) =>
          rendered.evaluate(name, input, options),
        )),
        promptName: rendered.name,
        open: (keys) => void (state && prompt.open(keys, state)),
      }
    }
  }
  const set = registry ?? (isServable(tools) ? tools : undefined)
  if (set)
    return async () => {
      await set.prepare?.()
      const entries = registry
        ? selectEntries(registry.entries as readonly RegistryEntry[], filter)
        : set.entries
      // An id always means this very tool; a toolset has only names.
      return createTurnSetup(entries, system, (entry, input, options) =>
        set.call((entry as Partial<RegistryEntry>).id ?? entry.name, input, options),
      )
    }
  const entries = requireUniqueNames(collectTools(tools as never))
  return () =>
    createTurnSetup(
      entries,
      system,
      async ({ definition, identity }, input, options) =>
        (await invokeTool(definition, input, options, identity)).outcome,
    )
}

// Toolsets have checked this already, and registries give every tool a unique name.
function requireUniqueNames(entries: readonly ToolEntry[]): readonly ToolEntry[] {
  const names = new Set<string>()
  for (const { name } of entries) {
    if (names.has(toLookupKey(name)))
      throw new ToolError('CONFIG', `two tools of the agent are called '${name}'`, {
        suggestion: `Rename one: tools: { other_${name}: tool }`,
      })
    names.add(toLookupKey(name))
  }
  return entries
}

type CallToolEntry = (entry: ToolEntry, input: JsonObject, options: CallOptions) => Promise<Outcome>

async function createTurnSetup(
  entries: readonly ToolEntry[],
  system: string | undefined,
  call: CallToolEntry,
): Promise<TurnSetup> {
  const byName = indexByExportName(entries)
  return {
    system: system === '' ? undefined : system,
    tools: await Promise.all(
      entries.map(async ({ name, definition }) => ({
        name: toExportName(name),
        manifest: (await definition.compiled()).manifest,
      })),
    ),
    names: [...byName.keys()],
    find(name) {
      const entry = byName.get(name)
      return entry && { entry, call: (input, options) => call(entry, input, options) }
    },
  }
}
