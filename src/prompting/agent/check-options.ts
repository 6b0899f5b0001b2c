import { isObject } from '../../contract/json.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { createBudget } from '../../call/budget.ts'
import { checkName, checkOptions } from '../../define/names.ts'
import { checkGuardList } from '../sections/section.ts'
import type { AgentOptions, AgentRunOptions } from './agent-type.ts'
import type { AgentMessage, ModelSettings } from './model-type.ts'

const OPTIONS = [
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
const RUN_OPTIONS = [
  'signal',
  'budget',
  'state',
  'approve',
  'answer',
  'onEvent',
  'transcript',
  'call',
] as const satisfies readonly (keyof AgentRunOptions)[]
const SETTINGS = [
  'maxOutputTokens',
  'temperature',
  'stopSequences',
] as const satisfies readonly (keyof ModelSettings)[]
const CALL = [
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
const COUNTS = { maxTurns: 1, retries: 0, outputLimit: 200 } as const

type Form = { readonly fits: (value: unknown) => boolean; readonly is: string }
const isFunction = (value: unknown): boolean => typeof value === 'function'
const isText = (value: unknown): boolean => typeof value === 'string'

// What is wrong here would fail in every call, where only the model is told.
const FORMS: { readonly [option: string]: Form } = {
  system: { fits: isText, is: 'a text' },
  parallel: {
    fits: (value) => value === 'safe' || value === 'all' || value === false,
    is: "'safe', 'all' or false",
  },
  approve: {
    fits: (value) => typeof value === 'boolean' || isFunction(value),
    is: 'true, false, or a function that consents',
  },
  answer: { fits: isFunction, is: 'a function that answers questions' },
  onEvent: { fits: isFunction, is: 'a function that takes events' },
  transcript: { fits: (value) => isText(value) && value !== '', is: 'the path of a file' },
  state: {
    fits: (value) => isObject(value) && isFunction(value['get']),
    is: 'what createState() gives',
  },
  budget: {
    fits: isObject,
    is: 'limits, such as { totalTokens: 50_000, time: "2m" }, or what createBudget() gives',
  },
  call: { fits: isObject, is: 'options of a call, such as { timeout: 30 }' },
  settings: { fits: isObject, is: 'settings, such as { maxOutputTokens: 1000 }' },
}

/** Refuses options of an agent that make no sense. Throws CONFIG. */
export function checkAgent(options: AgentOptions): void {
  const what = 'agent()'
  if (!isObject(options)) throw new ToolError('CONFIG', 'agent() takes { model, tools }')
  checkOptions(what, options, OPTIONS)
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
  if (registry !== undefined) checkPart('registry', registry, 'call', 'await registry() gives')
  if (prompt !== undefined) checkPart('prompt', prompt, 'render', 'sections() gives')
  if (filter !== undefined && !registry)
    throw new ToolError('CONFIG', "'filter' of agent() goes with 'registry' only")
  if (params !== undefined && !prompt)
    throw new ToolError('CONFIG', "'params' of agent() goes with 'prompt' only")
  for (const [field, least] of Object.entries(COUNTS) as [keyof typeof COUNTS, number][]) {
    const value = options[field]
    if (value !== undefined && !(Number.isSafeInteger(value) && value >= least))
      throw new ToolError(
        'CONFIG',
        `'${field}' of agent() must be a whole number of at least ${least}; it is ${String(value)}`,
      )
  }
  checkForms(what, options)
  if (guards !== undefined) checkGuardList(what, guards)
  if (settings !== undefined) checkOptions("'settings' of agent()", settings, SETTINGS)
}

/** Refuses what one run cannot be given. Throws CONFIG, and MISSING_PARAM without a task. */
export function checkRun(task: string | readonly AgentMessage[], options: AgentRunOptions): void {
  checkOptions('run() of an agent', options, RUN_OPTIONS)
  checkForms('run() of an agent', options)
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

function checkForms(what: string, options: AgentOptions | AgentRunOptions): void {
  for (const [option, value] of Object.entries(options)) {
    const form = Object.hasOwn(FORMS, option) ? FORMS[option] : undefined
    if (form && value !== undefined && !form.fits(value))
      throw new ToolError('CONFIG', `'${option}' of ${what} must be ${form.is}`)
  }
  const { budget, call } = options
  if (budget && !('spend' in budget)) createBudget(budget)
  if (call) checkOptions(`'call' of ${what}`, call, CALL)
}

function checkPart(name: string, given: unknown, does: string, what: string): void {
  if (typeof (given as { readonly [method: string]: unknown } | null)?.[does] === 'function') return
  throw new ToolError(
    'CONFIG',
    `'${name}' of agent() ${given instanceof Promise ? 'is a promise: write await before it' : `needs what ${what}`}`,
  )
}
