/**
 * The work of an agent as a tool, so that the runner runs it like any other.
 */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { agent } from '../../agent/agent.ts'
import { createNestedRunOptions, toToolReply } from '../../agent/run.ts'
import type { AgentEvent, AgentMessage, AgentPrompt, Model } from '../../agent/types.ts'
import { call, tool } from '../../core/tool.ts'
import type { AnyTool, Tool } from '../../core/tool.ts'
import type { Context } from '../../protocol/context.ts'
import type { Registry } from '../../registry/types.ts'
import { shorten } from '../../util/text.ts'
import { compact, parseJsonObject } from '../../util/values.ts'
import { loadModel, loadPrompt, toBudgetLimits } from './models.ts'
import type { AgentSettings } from './models.ts'

/** The id under which runs of agents are on record. */
export const AGENT_TOOL = 'toolable.agent'

const MAX_TEXT_CHARS = 2000

type AgentToolOptions = {
  readonly registry: Registry
  /** For the tools that it calls. */
  readonly secrets?: { readonly [name: string]: string } | undefined
  /** Where the transcript goes. */
  readonly artifacts: string
  /** Where it is loaded already. */
  readonly model?: Model
  /** Told of everything, besides the record. */
  readonly onEvent?: (event: AgentEvent) => void
}

/**
 * The work of an agent as a tool, so that the runner runs it like any other: questions, cancelling,
 * deadline and record come with it. What was said before, in an attempt that ended too early, is
 * not said again.
 */
export function createAgentTool({
  registry,
  artifacts,
  secrets,
  model,
  onEvent,
}: AgentToolOptions): AnyTool {
  return tool({
    name: 'agent',
    summary: 'Let a model work on a task with the tools of this project',
    input: {
      type: 'object',
      properties: { task: { type: 'string' } },
      required: ['task'],
      additionalProperties: true,
    } as const,
    async run(given, ctx) {
      const settings = given as AgentSettings
      const transcript = join(artifacts, 'transcript.jsonl')
      const before = readConversation(transcript)
      const worker = agent({
        model: model ?? (await loadModel(settings, ctx)),
        ...(settings.prompt === undefined
          ? compact({ registry, filter: settings.tools })
          : compact({
              prompt: (await loadPrompt(settings.prompt, ctx.cwd)) as AgentPrompt,
              params: settings.params,
            })),
        ...compact({
          system: settings.system,
          maxTurns: settings.maxTurns,
          settings:
            settings.maxOutputTokens !== undefined
              ? { maxOutputTokens: settings.maxOutputTokens }
              : undefined,
        }),
        parallel: settings.parallel === 'none' ? false : (settings.parallel ?? 'safe'),
        call: compact({
          cwd: ctx.cwd,
          env: ctx.env,
          caller: 'toolable-agent',
          secrets,
          dryRun: settings.dryRun ? true : undefined,
        }),
      })
      const budget = toBudgetLimits(settings)
      const record = createRecorder(ctx)
      const result = await worker.run(before ?? settings.task, {
        signal: ctx.signal,
        answer: createNestedRunOptions(ctx).answer,
        ...compact({ approve: settings.yes ? true : undefined, budget }),
        transcript,
        onEvent: (event) => {
          record(event)
          onEvent?.(event)
        },
      })
      ctx.artifact('transcript.jsonl', pathToFileURL(transcript).href)
      return toToolReply(result)
    },
  })
}

// The record of the run tells what happened; the transcript has it word for word.
function createRecorder(ctx: Context): (event: AgentEvent) => void {
  let said = ''
  return (event) => {
    if (event.type === 'text') said += event.delta
    else if (event.type === 'turn_start') ctx.progress(`turn ${event.turn}`)
    else if (event.type === 'usage') {
      if (said !== '')
        ctx.item({ type: 'text', turn: event.turn, text: shorten(said, MAX_TEXT_CHARS) })
      ctx.item(event)
      said = ''
    } else if (event.type === 'tool_progress') {
      if (event.event.type === 'progress')
        ctx.progress(
          `${event.name}: ${event.event.message}`,
          undefined,
          event.event.plan && { plan: event.event.plan },
        )
    } else if (event.type === 'tool_result') {
      const { outcome: _outcome, text, ...rest } = event
      ctx.item({ ...rest, text: shorten(text, MAX_TEXT_CHARS) })
    } else if (event.type === 'end') {
      const { status, turns, usage } = event.result
      ctx.item({ type: 'end', status, turns, usage })
    } else {
      if (event.type === 'retry') said = ''
      ctx.item(event)
    }
  }
}

/** What the runner calls for a run of an agent: there is only the one tool in it. */
export function createAgentRegistry(registry: Registry, artifacts: string): Pick<Registry, 'call'> {
  return {
    call: (_tool, input, options) =>
      call(
        createAgentTool({ registry, artifacts, secrets: options?.secrets }) as Tool,
        input,
        options,
      ),
  }
}

/**
 * What was said according to a transcript; undefined where there is none. A line that was torn by a
 * crash is left out.
 */
function readConversation(file: string): readonly AgentMessage[] | undefined {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
  let messages: AgentMessage[] = []
  for (const line of text.split('\n')) {
    const entry = parseJsonObject(line)
    // Each attempt begins with what it was given.
    if (entry?.['type'] === 'start' && Array.isArray(entry['messages']))
      messages = [...(entry['messages'] as AgentMessage[])]
    else if (entry?.['type'] === 'message') messages.push(entry['message'] as AgentMessage)
  }
  return messages.length > 0 ? messages : undefined
}
