import { pathToFileURL } from 'node:url'
import { join } from 'node:path'
import { shorten } from '../../contract/shorten.ts'
import type { Context } from '../../contract/context.ts'
import { tool } from '../../call/tool.ts'
import type { AnyTool } from '../../call/tool.ts'
import { agent } from '../../prompting/agent/agent.ts'
import { answerOf, optionsInside } from '../../prompting/agent/as-tool.ts'
import type { AgentEvent } from '../../prompting/agent/agent-type.ts'
import type { AgentPrompt } from '../../prompting/agent/prompt-type.ts'
import type { Model } from '../../prompting/agent/model-type.ts'
import type { Registry } from '../../registry/registry-type.ts'
import { loadModel, loadPrompt } from './load-model.ts'
import { readConversation } from './read-conversation.ts'
import { budgetOf } from './settings.ts'
import type { AgentSettings } from './settings.ts'

/** The id under which runs of agents are on record. */
export const AGENT_TOOL = 'toolable.agent'

const LONGEST_TEXT = 2000

export type AgentToolParts = {
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

/** The work of an agent as a tool, so that the runner runs it like any other: questions, cancelling, deadline and record come with it. What was said before, in an attempt that ended too early, is not said again. */
export function agentTool({
  registry,
  artifacts,
  secrets,
  model,
  onEvent,
}: AgentToolParts): AnyTool {
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
          ? { registry, ...(settings.tools && { filter: settings.tools }) }
          : {
              prompt: (await loadPrompt(settings.prompt, ctx.cwd)) as AgentPrompt,
              ...(settings.params && { params: settings.params }),
            }),
        ...(settings.system !== undefined && { system: settings.system }),
        ...(settings.maxTurns !== undefined && { maxTurns: settings.maxTurns }),
        ...(settings.maxOutputTokens !== undefined && {
          settings: { maxOutputTokens: settings.maxOutputTokens },
        }),
        parallel: settings.parallel === 'none' ? false : (settings.parallel ?? 'safe'),
        call: {
          cwd: ctx.cwd,
          env: ctx.env,
          caller: 'toolable-agent',
          ...(secrets && { secrets }),
          ...(settings.dryRun && { dryRun: true }),
        },
      })
      const budget = budgetOf(settings)
      const record = recordIn(ctx)
      const result = await worker.run(before ?? settings.task, {
        signal: ctx.signal,
        answer: optionsInside(ctx).answer,
        ...(settings.yes && { approve: true }),
        ...(budget && { budget }),
        transcript,
        onEvent: (event) => {
          record(event)
          onEvent?.(event)
        },
      })
      ctx.artifact('transcript.jsonl', pathToFileURL(transcript).href)
      return answerOf(result)
    },
  })
}

// The record of the run tells what happened; the transcript has it word for word.
function recordIn(ctx: Context): (event: AgentEvent) => void {
  let said = ''
  return (event) => {
    if (event.type === 'text') said += event.delta
    else if (event.type === 'turn_start') ctx.progress(`turn ${event.turn}`)
    else if (event.type === 'usage') {
      if (said !== '')
        ctx.item({ type: 'text', turn: event.turn, text: shorten(said, LONGEST_TEXT) })
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
      ctx.item({ ...rest, text: shorten(text, LONGEST_TEXT) })
    } else if (event.type === 'end') {
      const { status, turns, usage } = event.result
      ctx.item({ type: 'end', status, turns, usage })
    } else {
      if (event.type === 'retry') said = ''
      ctx.item(event)
    }
  }
}
