/**
 * An agent: a model that calls tools until a task is done. `agent()` checks its options; everything
 * else is loaded by the first run.
 *
 * Read in this order: types.ts (options, events, results, models), run.ts (one run from task to
 * result), turn.ts (one request to the model), tool-calls.ts (the tool calls of one reply),
 * agent-run.ts (what a run shares: conversation, budget, events, transcript). models/ has one file
 * per model provider.
 */

import { createBudget } from '../core/budget.ts'
import { tool } from '../core/tool.ts'
import { checkName, checkOptions } from '../define/checks.ts'
import { validateGuards } from '../prompts/section.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { compact, isObject } from '../util/values.ts'
import type { Agent, AgentMessage, AgentOptions, AgentRunOptions, ModelSettings } from './types.ts'

/**
 * A model with tools: it works on a task until it needs no more calls. What it needs is loaded when
 * the first run starts. Throws CONFIG for options that make no sense.
 */
export function agent(options: AgentOptions): Agent {
  validateAgentOptions(options)
  const { name = 'agent' } = options
  const run: Agent['run'] = async (task, how = {}) => {
    validateRunOptions(task, how)
    return (await import('./run.ts')).runAgent(options, task, how)
  }
  return {
    name,
    run,
    async *stream(task, how = {}) {
      const { streamAgentEvents } = await import('./run.ts')
      yield* streamAgentEvents(
        ({ signal, onEvent }) =>
          run(task, {
            ...how,
            signal,
            onEvent: (event) => {
              onEvent(event)
              return (how.onEvent ?? options.onEvent)?.(event)
            },
          }),
        how.signal,
      )
    },
    asTool: (named) =>
      tool({
        ...named,
        input: {
          type: 'object',
          properties: {
            task: {
              type: 'string',
              minLength: 1,
              description: 'What is to be done, with everything that has to be known for it',
            },
          },
          required: ['task'],
          additionalProperties: false,
        } as const,
        async run(given, ctx) {
          const { toToolReply, createNestedRunOptions } = await import('./run.ts')
          const inside = createNestedRunOptions(ctx)
          const { answer, budget, onEvent } = options
          return toToolReply(
            await run((given as { readonly task: string }).task, {
              ...inside,
              ...compact({ answer, budget: !budget && ctx.budget ? ctx.budget : undefined }),
              onEvent: (event) => {
                inside.onEvent(event)
                return onEvent?.(event)
              },
            }),
          )
        },
      }),
  }
}

const AGENT_OPTION_NAMES = [
  'name',
  'model',
  'registry',
  'filter',
  'tools',
  'prompt',
  'params',
  'system',
  'maxTurns',
  'budget',
  'state',
  'guards',
  'parallel',
  'approve',
  'answer',
  'retries',
  'outputLimit',
  'settings',
  'call',
  'onEvent',
  'transcript',
] as const satisfies readonly (keyof AgentOptions)[]
const RUN_OPTION_NAMES = [
  'signal',
  'budget',
  'state',
  'approve',
  'answer',
  'onEvent',
  'transcript',
  'call',
] as const satisfies readonly (keyof AgentRunOptions)[]
const MODEL_SETTING_NAMES = [
  'maxOutputTokens',
  'temperature',
  'stopSequences',
] as const satisfies readonly (keyof ModelSettings)[]
const CALL_OPTION_NAMES = [
  'timeout',
  'dryRun',
  'sample',
  'roots',
  'invocation',
  'prompt',
  'onEvent',
  'caller',
  'cwd',
  'env',
  'secrets',
  'verbose',
] as const satisfies readonly (keyof NonNullable<AgentOptions['call']>)[]
const MIN_COUNTS = { maxTurns: 1, retries: 0, outputLimit: 200 } as const

type AgentOptionRule = { readonly isValid: (value: unknown) => boolean; readonly expected: string }
const isFunction = (value: unknown): boolean => typeof value === 'function'
const isString = (value: unknown): boolean => typeof value === 'string'

// What is wrong here would fail in every call, where only the model is told.
const OPTION_RULES: { readonly [option: string]: AgentOptionRule } = {
  system: { isValid: isString, expected: 'a text' },
  parallel: {
    isValid: (value) => value === 'safe' || value === 'all' || value === false,
    expected: "'safe', 'all' or false",
  },
  approve: {
    isValid: (value) => typeof value === 'boolean' || isFunction(value),
    expected: 'true, false, or a function that consents',
  },
  answer: { isValid: isFunction, expected: 'a function that answers questions' },
  onEvent: { isValid: isFunction, expected: 'a function that takes events' },
  transcript: {
    isValid: (value) => isString(value) && value !== '',
    expected: 'the path of a file',
  },
  state: {
    isValid: (value) => isObject(value) && isFunction(value['get']),
    expected: 'what createState() gives',
  },
  budget: {
    isValid: isObject,
    expected: 'limits, such as { totalTokens: 50_000, time: "2m" }, or what createBudget() gives',
  },
  call: { isValid: isObject, expected: 'options of a call, such as { timeout: 30 }' },
  settings: { isValid: isObject, expected: 'settings, such as { maxOutputTokens: 1000 }' },
}

/** Refuses options of an agent that make no sense. Throws CONFIG. */
function validateAgentOptions(options: AgentOptions): void {
  const what = 'agent()'
  if (!isObject(options)) throw new ToolError('CONFIG', 'agent() takes { model, tools }')
  checkOptions(what, options, AGENT_OPTION_NAMES)
  const {
    name = 'agent',
    model,
    registry,
    tools,
    prompt,
    filter,
    params,
    guards,
    settings,
  } = options
  checkName('agent', name)
  if (typeof model?.generate !== 'function')
    throw new ToolError(
      'CONFIG',
      "'model' of agent() needs a model: what openaiModel() or aiSdkModel() gives, or { name, generate }",
      { suggestion: "agent({ model: openaiModel({ model: 'gpt-5' }), tools })" },
    )
  if ([registry, tools, prompt].filter((one) => one !== undefined).length !== 1)
    throw new ToolError('CONFIG', "agent() takes exactly one of 'registry', 'tools' and 'prompt'", {
      suggestion: 'agent({ model, tools: [myTool] })',
    })
  if (registry !== undefined) requireMethod('registry', registry, 'call', 'await registry() gives')
  if (prompt !== undefined) requireMethod('prompt', prompt, 'render', 'sections() gives')
  if (filter !== undefined && !registry)
    throw new ToolError('CONFIG', "'filter' of agent() goes with 'registry' only")
  if (params !== undefined && !prompt)
    throw new ToolError('CONFIG', "'params' of agent() goes with 'prompt' only")
  for (const [field, least] of Object.entries(MIN_COUNTS) as [keyof typeof MIN_COUNTS, number][]) {
    const value = options[field]
    if (value !== undefined && !(Number.isSafeInteger(value) && value >= least))
      throw new ToolError(
        'CONFIG',
        `'${field}' of agent() must be a whole number of at least ${least}; it is ${String(value)}`,
      )
  }
  validateOptionRules(what, options)
  if (guards !== undefined) validateGuards(what, guards)
  if (settings !== undefined) checkOptions("'settings' of agent()", settings, MODEL_SETTING_NAMES)
}

/** Refuses what one run cannot be given. Throws CONFIG, and MISSING_PARAM without a task. */
function validateRunOptions(
  task: string | readonly AgentMessage[],
  options: AgentRunOptions,
): void {
  checkOptions('run() of an agent', options, RUN_OPTION_NAMES)
  validateOptionRules('run() of an agent', options)
  if (
    typeof task === 'string'
      ? task.trim() !== ''
      : Array.isArray(task) &&
        task.some((message: AgentMessage | undefined) => message?.role === 'user')
  )
    return
  throw new ToolError(
    'MISSING_PARAM',
    'an agent needs a task: a text, or messages with one of the user',
    { field: 'task', suggestion: "agent.run('Sum up the open issues')" },
  )
}

function validateOptionRules(what: string, options: AgentOptions | AgentRunOptions): void {
  for (const [option, value] of Object.entries(options)) {
    const form = Object.hasOwn(OPTION_RULES, option) ? OPTION_RULES[option] : undefined
    if (form && value !== undefined && !form.isValid(value))
      throw new ToolError('CONFIG', `'${option}' of ${what} must be ${form.expected}`)
  }
  const { budget, call } = options
  if (budget && !('spend' in budget)) createBudget(budget)
  if (call) checkOptions(`'call' of ${what}`, call, CALL_OPTION_NAMES)
}

function requireMethod(name: string, given: unknown, does: string, what: string): void {
  if (typeof (given as { readonly [method: string]: unknown } | null)?.[does] === 'function') return
  throw new ToolError(
    'CONFIG',
    `'${name}' of agent() ${given instanceof Promise ? 'is a promise: write await before it' : `needs what ${what}`}`,
  )
}
