import { ToolError } from '../../contract/tool-error.ts'
import { checkName, checkOptions } from '../../define/names.ts'
import { tool } from '../../call/tool.ts'
import type { Agent, AgentOptions, AgentRunOptions } from './agent-type.ts'
import type { AgentMessage } from './model-type.ts'

const OPTIONS = ['name', 'model', 'registry', 'filter', 'tools', 'prompt', 'params', 'system', 'maxTurns', 'budget', 'state', 'guards', 'parallel', 'approve', 'answer', 'retries', 'outputLimit', 'settings', 'call', 'onEvent', 'transcript'] as const satisfies readonly (keyof AgentOptions)[]
const RUN_OPTIONS = ['signal', 'budget', 'state', 'approve', 'answer', 'onEvent', 'transcript', 'call'] as const satisfies readonly (keyof AgentRunOptions)[]
const COUNTS = { maxTurns: 1, retries: 0, outputLimit: 200 } as const

/** A model with tools: it works on a task until it needs no more calls. What it needs is loaded when the first run starts. Throws CONFIG for options that make no sense. */
export function agent(options: AgentOptions): Agent {
  check(options)
  const { name = 'agent' } = options
  const run: Agent['run'] = async (task, how = {}) => {
    checkOptions('run() of an agent', how, RUN_OPTIONS)
    checkTask(task)
    return (await import('./run-agent.ts')).runAgent(options, task, how)
  }
  return {
    name,
    run,
    async *stream(task, how = {}) {
      const { streamAgent } = await import('./stream-agent.ts')
      yield* streamAgent(({ signal, onEvent }) => run(task, { ...how, signal, onEvent: (event) => {
        onEvent(event)
        return (how.onEvent ?? options.onEvent)?.(event)
      } }), how.signal)
    },
    asTool: (named) => tool({
      ...named,
      input: { type: 'object', properties: { task: { type: 'string', minLength: 1, description: 'What is to be done, with everything that has to be known for it' } }, required: ['task'], additionalProperties: false } as const,
      async run(given, ctx) {
        const { answerOf, optionsInside } = await import('./as-tool.ts')
        const inside = optionsInside(ctx)
        const { answer, budget, onEvent } = options
        return answerOf(await run((given as { readonly task: string }).task, {
          ...inside,
          ...(answer && { answer }),
          ...(!budget && ctx.budget && { budget: ctx.budget }),
          onEvent: (event) => {
            inside.onEvent(event)
            return onEvent?.(event)
          },
        }))
      },
    }),
  }
}

function check(options: AgentOptions): void {
  checkOptions('agent()', options, OPTIONS)
  const { name = 'agent', model, registry, tools, prompt, filter } = options
  checkName('agent', name)
  if (typeof model?.generate !== 'function') throw new ToolError('CONFIG', "'model' of agent() needs a model: what openaiModel() or aiSdkModel() gives, or { name, generate }", { suggestion: "agent({ model: openaiModel({ model: 'gpt-5' }), tools })" })
  if ([registry, tools, prompt].filter((one) => one !== undefined).length !== 1) throw new ToolError('CONFIG', "agent() takes exactly one of 'registry', 'tools' and 'prompt'", { suggestion: 'agent({ model, tools: [myTool] })' })
  if (registry !== undefined) checkPart('registry', registry, 'call', 'await registry() gives')
  if (prompt !== undefined) checkPart('prompt', prompt, 'render', 'sections() gives')
  if (filter !== undefined && !registry) throw new ToolError('CONFIG', "'filter' of agent() goes with 'registry' only")
  for (const [field, least] of Object.entries(COUNTS) as [keyof typeof COUNTS, number][]) {
    const value = options[field]
    if (value !== undefined && !(Number.isSafeInteger(value) && value >= least)) throw new ToolError('CONFIG', `'${field}' of agent() must be a whole number of at least ${least}; it is ${String(value)}`)
  }
}

function checkPart(name: string, given: unknown, does: string, what: string): void {
  if (typeof (given as { readonly [method: string]: unknown } | null)?.[does] === 'function') return
  throw new ToolError('CONFIG', `'${name}' of agent() ${given instanceof Promise ? 'is a promise: write await before it' : `needs what ${what}`}`)
}

function checkTask(task: string | readonly AgentMessage[]): void {
  if (typeof task === 'string' ? task.trim() !== '' : Array.isArray(task) && task.some((message: AgentMessage | undefined) => message?.role === 'user')) return
  throw new ToolError('MISSING_PARAM', 'an agent needs a task: a text, or messages with one of the user', { field: 'task', suggestion: "agent.run('Sum up the open issues')" })
}
