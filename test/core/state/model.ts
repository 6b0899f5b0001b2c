import fc from 'fast-check'
import { call, partial, slice, tool } from 'toolable'
import type { CallOptions, Context, Outcome, State } from 'toolable'
import { anyStep, perform, performPlainly } from '../files/model.ts'
import type { Model as Files, Step } from '../files/model.ts'

type Item = { readonly id: number; readonly text: string }

/** Every call that succeeds leaves its number here, in the order of commits. */
export const order = slice<number>('order')
export const items = slice<Item>('items', { by: ({ id }) => id })
export const trail = slice<number>('trail', { kind: 'log' })

/** What a session holds, in the plainest form. */
export type Plain = { order: number[]; items: Item[]; trail: number[]; files: Files }

type Change =
  | { readonly do: 'append' | 'upsert'; readonly id: number; readonly text: string }
  | { readonly do: 'drop' | 'rename'; readonly id: number }
  | { readonly do: 'replace'; readonly ids: readonly number[] }

/** One thing that a call does; `tries` is a call inside it. */
export type Action =
  | { readonly kind: 'slice'; readonly change: Change }
  | { readonly kind: 'file'; readonly step: Step }
  | { readonly kind: 'log' }
  | { readonly kind: 'tries'; readonly actions: readonly Action[]; readonly fails: boolean }

/** How a call ends. */
export type End = 'success' | 'failure' | 'throw' | 'output' | 'timeout' | 'abort' | 'subscriber'

/** Calls that begin together; most of the time it is one. */
export type Round = readonly {
  readonly actions: readonly Action[]
  readonly end: End
  readonly heard: boolean
}[]

const id = fc.integer({ min: 1, max: 4 })
const anyChange: fc.Arbitrary<Change> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom('append', 'upsert'),
      id,
      text: fc.constantFrom('x', 'y'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('drop', 'rename'), id }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('replace'), ids: fc.array(id, { maxLength: 3 }) }),
  },
)
const plainAction: fc.Arbitrary<Action> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('slice'), change: anyChange }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('file'), step: anyStep }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'log' } as const) },
)
const anyAction = fc.oneof(
  { weight: 8, arbitrary: plainAction },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('tries'),
      actions: fc.array(plainAction, { minLength: 1, maxLength: 3 }),
      fails: fc.boolean(),
    }),
  },
)
const anyEnd: fc.Arbitrary<End> = fc.oneof(
  { weight: 10, arbitrary: fc.constant('success') },
  { weight: 9, arbitrary: fc.constantFrom('failure', 'throw', 'output', 'abort', 'subscriber') },
  { weight: 1, arbitrary: fc.constant('timeout') },
)
const anyCall = fc.record({
  actions: fc.array(anyAction, { minLength: 1, maxLength: 4 }),
  end: anyEnd,
  heard: fc.boolean(),
})

/** A few rounds of calls on one session. */
export const anySequence: fc.Arbitrary<readonly Round[]> = fc.array(
  fc.oneof(
    { weight: 2, arbitrary: fc.tuple(anyCall) },
    { weight: 1, arbitrary: fc.array(anyCall, { minLength: 2, maxLength: 3 }) },
  ),
  { minLength: 1, maxLength: 3 },
)

/** A copy that can be changed alone. */
export function copy({ order: done, items: all, trail: log, files }: Plain): Plain {
  return { order: [...done], items: [...all], trail: [...log], files: new Map(files) }
}

/**
 * Does to the model what a successful call did to the session; gives what the steps on files have
 * to say, apart from those of calls inside that fail. Logs were written when they happened.
 */
export function actPlainly(plain: Plain, actions: readonly Action[]): string[] {
  return actions.flatMap((action) => {
    if (action.kind === 'file') return [performPlainly(plain.files, action.step)]
    if (action.kind === 'slice') plain.items = changePlainly(plain.items, action.change)
    if (action.kind !== 'tries') return []
    const inner = copy(plain)
    const said = actPlainly(inner, action.actions)
    if (action.fails) return []
    Object.assign(plain, { items: inner.items, files: inner.files })
    return said
  })
}

function changePlainly(all: readonly Item[], change: Change): Item[] {
  switch (change.do) {
    case 'append':
      return [...all, { id: change.id, text: change.text }]
    case 'drop':
      return all.filter((item) => item.id !== change.id)
    case 'rename':
      return all.map((item) => (item.id === change.id ? { ...item, text: `${item.text}!` } : item))
    case 'replace':
      return change.ids.map((number) => ({ id: number, text: 'r' }))
    case 'upsert': {
      const at = all.findIndex((item) => item.id === change.id)
      const item = { id: change.id, text: change.text }
      return at < 0 ? [...all, item] : all.map((other, index) => (index === at ? item : other))
    }
  }
}

function change(state: State, wanted: Change): void {
  const view = state.get(items)
  switch (wanted.do) {
    case 'append':
      return view.append({ id: wanted.id, text: wanted.text })
    case 'upsert':
      return view.upsert({ id: wanted.id, text: wanted.text })
    case 'drop':
      return view.clear((item) => item.id === wanted.id)
    case 'rename':
      return view.reduce(
        (all, number: number) =>
          all.map((item) => (item.id === number ? { ...item, text: `${item.text}!` } : item)),
        wanted.id,
      )
    case 'replace':
      return view.replace(wanted.ids.map((number) => ({ id: number, text: 'r' })))
  }
}

/** Whether a successful call put something in the place of all items, or changed them at all. */
export function touches(actions: readonly Action[], how: 'replace' | 'items' | 'files'): boolean {
  return actions.some((action) => {
    if (action.kind === 'tries')
      return (how === 'files' || !action.fails) && touches(action.actions, how)
    return how === 'files'
      ? action.kind === 'file'
      : action.kind === 'slice' && (how === 'items' || action.change.do === 'replace')
  })
}

// One tool for all calls: to define one costs more than to call it.
const works = new Map<number, (ctx: Context) => unknown>()
const does = tool({
  name: 'does',
  summary: 'Does what is kept for it',
  input: {
    type: 'object',
    properties: { key: { type: 'integer' } },
    required: ['key'],
    additionalProperties: false,
  },
  run: (input: unknown, ctx: Context) => works.get((input as { readonly key: number }).key)!(ctx),
})
let calls = 0

async function doOnce(work: (ctx: Context) => unknown, options: CallOptions): Promise<Outcome> {
  const key = ++calls
  works.set(key, work)
  return call(does, { key }, options).finally(() => works.delete(key))
}

/**
 * Does the actions of a call; gives what the steps on files said. `log` hears what was written to
 * the log while every call around was still open.
 */
export async function act(
  ctx: Context,
  state: State,
  actions: readonly Action[],
  log: (entry: number) => void,
  signals: readonly AbortSignal[] = [ctx.signal],
): Promise<string[]> {
  const said: string[] = []
  for (const action of actions) {
    if (action.kind === 'slice') change(ctx.state, action.change)
    else if (action.kind === 'file') said.push(await perform(ctx.filesystem, action.step))
    else if (action.kind === 'log') writeLog(ctx, log, signals)
    else
      await doOnce(
        async (inner) => {
          const heard = await act(inner, state, action.actions, log, [...signals, inner.signal])
          if (action.fails) throw new Error('the inner call fails')
          said.push(...heard)
        },
        { state },
      )
  }
  return said
}

let entries = 0
function writeLog(
  ctx: Context,
  log: (entry: number) => void,
  signals: readonly AbortSignal[],
): void {
  const entry = ++entries
  if (signals.every(({ aborted }) => !aborted)) log(entry)
  ctx.state.get(trail).append(entry)
}

/**
 * Makes one call of a sequence. `meet` holds it back until all calls of its round have done what
 * they do.
 */
export async function make(
  state: State,
  number: number,
  { actions, end, heard }: Round[number],
  log: (entry: number) => void,
  meet: () => Promise<void>,
): Promise<{ readonly outcome: Outcome; readonly said: string[] }> {
  const controller = new AbortController()
  let said: string[] = []
  const outcome = await doOnce(
    async (ctx) => {
      ctx.state.get(order).append(number)
      said = await act(ctx, state, actions, log).finally(meet)
      if (end === 'throw') throw new Error('thrown')
      if (end === 'failure') return partial([], [new Error('all of it failed')])
      if (end === 'output') return 1n
      if (end !== 'timeout' && end !== 'abort') return 'done'
      if (end === 'abort') controller.abort()
      await new Promise((resolve) => {
        if (ctx.signal.aborted) resolve(0)
        else ctx.signal.addEventListener('abort', resolve)
      })
      // Nobody waits for it any more, and it goes on.
      await act(
        ctx,
        state,
        [
          ...actions,
          { kind: 'log' },
          { kind: 'slice', change: { do: 'append', id: 9, text: 'late' } },
        ],
        log,
      )
      return 'late'
    },
    {
      state,
      signal: controller.signal,
      ...(end === 'timeout' && { timeout: '1ms' }),
      ...((heard || end === 'subscriber') && {
        onEvent: async () => {
          await Promise.resolve()
          if (end === 'subscriber') throw new Error('the subscriber fails')
        },
      }),
    },
  )
  return { outcome, said }
}

/** All that a session holds, without its files. */
export function read(state: State): Omit<Plain, 'files'> {
  return {
    order: [...state.get(order).all()],
    items: [...state.get(items).all()],
    trail: [...state.get(trail).all()],
  }
}

export type { Files }
