/**
 * The work of an agent as a tool, so that the runner runs it like any other.
 */

import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { agent } from '../../agent/agent.ts'
import { createNestedRunOptions, toToolReply } from '../../agent/run.ts'
import type { AgentEvent, AgentMessage, Model } from '../../agent/types.ts'
import type { AnyTool, Tool } from '../../core/tool.ts'
import { call, tool } from '../../core/tool.ts'
import type { Context } from '../../protocol/context.ts'
import type { Registry } from '../../registry/types.ts'
import { readTextFile } from '../../util/files.ts'
import { shorten } from '../../util/text.ts'
import { compact, parseJsonObject } from '../../util/values.ts'
import type { AgentSettings } from './models.ts'
import { loadModel, loadPrompt, toBudgetLimits } from './models.ts'

/** The id under which runs of agents are on record. */
export const AGENT_TOOL = 'toolable.agent'

const MAX_TEXT_CHARS = 2000

type AgentToolOptions = {
  readonly registry: Registry
  /** For the tools that it calls. */
  readonly secrets?: { readonly [name: string]: string } | undefined
  /** Where the transcript goes. */
  readonly artifacts: string
  /** The model, where it is loaded already. */
  readonly model?: Model
  /** Called with every event, besides the record. */
  readonly onEvent?: (event: AgentEvent) => void
}

/**
 * The work of an agent as a tool, so that the runner runs it like any other: questions, cancelling,
 * deadline and record come with it. It continues the conversation of an attempt that ended too
 * early.
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
      const { prompt, params, tools, system, maxTurns, maxOutputTokens, parallel } = settings
      const transcript = join(artifacts, 'transcript.jsonl')
      const before = readConversation(transcript)
      const worker = agent({
        model: model ?? (await loadModel(settings, ctx)),
        ...(prompt === undefined
          ? compact({ registry, filter: tools })
          : compact({ prompt: await loadPrompt(prompt, ctx.cwd), params })),
        ...compact({
          system,
          maxTurns,
          settings: maxOutputTokens === undefined ? undefined : { maxOutputTokens },
        }),
        parallel: parallel === 'none' ? false : (parallel ?? 'safe'),
        call: compact({
          cwd: ctx.cwd,
          env: ctx.env,
          caller: 'toolable-agent',
          secrets,
          dryRun: settings.dryRun || undefined,
        }),
      })
      const record = createRecorder(ctx)
      const result = await worker.run(before ?? settings.task, {
        signal: ctx.signal,
        answer: createNestedRunOptions(ctx).answer,
        ...compact({ approve: settings.yes || undefined, budget: toBudgetLimits(settings) }),
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

// The record of the run says what happened; the transcript has it word for word.
function createRecorder(ctx: Context): (event: AgentEvent) => void {
  let said = ''
  return (event) => {
    switch (event.type) {
      case 'text':
        said += event.delta
        return
      case 'turn_start':
        return ctx.progress(`turn ${event.turn}`)
      case 'usage':
        if (said !== '')
          ctx.item({ type: 'text', turn: event.turn, text: shorten(said, MAX_TEXT_CHARS) })
        said = ''
        return ctx.item(event)
      case 'tool_progress': {
        if (event.event.type !== 'progress') return
        const { message, plan } = event.event
        return ctx.progress(`${event.name}: ${message}`, undefined, plan && { plan })
      }
      case 'tool_result': {
        const { outcome: _outcome, text, ...rest } = event
        return ctx.item({ ...rest, text: shorten(text, MAX_TEXT_CHARS) })
      }
      case 'end': {
        const { status, turns, usage } = event.result
        return ctx.item({ type: 'end', status, turns, usage })
      }
      case 'retry':
        said = ''
        return ctx.item(event)
      default:
        return ctx.item(event)
    }
  }
}

/** What the runner calls for a run of an agent: a registry with that one tool. */
export function createAgentRegistry(registry: Registry, artifacts: string): Pick<Registry, 'call'> {
  return {
    call(_tool, input, options) {
      const agentTool = createAgentTool({ registry, artifacts, secrets: options?.secrets })
      return call(agentTool as Tool, input, options)
    },
  }
}

/**
 * The conversation in a transcript; undefined where there is none. A line that a crash cut off is
 * left out.
 */
function readConversation(file: string): readonly AgentMessage[] | undefined {
  let messages: AgentMessage[] = []
  for (const line of (readTextFile(file) ?? '').split('\n')) {
    const entry = parseJsonObject(line)
    // Each attempt begins with the messages it was given.
    if (entry?.['type'] === 'start' && Array.isArray(entry['messages']))
      messages = [...(entry['messages'] as AgentMessage[])]
    else if (entry?.['type'] === 'message') messages.push(entry['message'] as AgentMessage)
  }
  return messages.length > 0 ? messages : undefined
}
