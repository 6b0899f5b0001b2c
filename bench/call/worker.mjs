// One kind of call in a process of its own, so that none pays for what others did to the compiler.
// Told 'go' it makes a round of calls and tells what one cost in µs of CPU time.
import { AsyncLocalStorage } from 'node:async_hooks'
import { call, createBudget, createState, guard, memoryFiles, slice, tool } from 'toolable'
import { z } from 'zod'
import { BARE, BARE_APPENDING, BARE_LATER, CALLS } from './names.mjs'

const input = z.strictObject({
  a: z.number(),
  b: z.number(),
  name: z.string().min(1).max(40),
  tags: z.array(z.string()).max(10).default([]),
})
const given = { a: 1, b: 2, name: 'somebody', tags: ['x', 'y'] }
const notes = slice('notes')
const options = { name: 'add', summary: 'Add numbers', input }

// Whatever is asynchronous costs more once anybody in the process uses this: it is on for both
// sides.
const storage = new AsyncLocalStorage()
const add = tool({ ...options, run: ({ a, b }) => a + b })
const addLater = tool({ ...options, run: async ({ a, b }) => a + b })
const reads = tool({
  ...options,
  run: ({ a, b }, ctx) => a + b + ctx.state.get(notes).all().length,
})
const appends = tool({
  ...options,
  run: ({ a, b }, ctx) => {
    ctx.state.get(notes).append({ a })
    return a + b
  },
})
const allows = guard({ name: 'allows', check: () => undefined })
const bare = async (value) => {
  const { a, b } = input.parse(value)
  return a + b
}
const sum = async ({ a, b }) => a + b
const bareLater = async (value) => await sum(input.parse(value))

const fresh = () => createState()
const cases = [
  { name: BARE, make: () => () => storage.run({}, () => bare(given)) },
  {
    name: BARE_APPENDING,
    make:
      (list = []) =>
      () =>
        storage.run({}, async () => {
          const { a, b } = input.parse(given)
          list.push(Object.freeze({ a }))
          return a + b
        }),
  },
  { name: BARE_LATER, make: () => () => storage.run({}, () => bareLater(given)) },
  { name: 'call', make: () => () => call(add, given) },
  { name: 'call of an async handler', make: () => () => call(addLater, given) },
  {
    name: 'call with a state that is not looked at',
    make:
      (state = fresh()) =>
      () =>
        call(add, given, { state }),
  },
  {
    name: 'call that reads a state',
    make:
      (state = fresh()) =>
      () =>
        call(reads, given, { state }),
  },
  {
    name: 'call that appends to a state',
    make:
      (state = fresh()) =>
      () =>
        call(appends, given, { state }),
  },
  {
    name: 'call with a state and files that are not looked at',
    make:
      (state = createState({ filesystem: memoryFiles() })) =>
      () =>
        call(add, given, { state }),
  },
  {
    name: 'call with a state and a guard',
    make:
      (state = fresh()) =>
      () =>
        call(add, given, { state, guards: [allows] }),
  },
  {
    name: 'call with a budget',
    make:
      (budget = createBudget({ totalTokens: 1_000_000 })) =>
      () =>
        call(add, given, { budget }),
  },
  {
    name: 'call with a state and a subscriber',
    make:
      (state = fresh()) =>
      () =>
        call(add, given, { state, onEvent: () => undefined }),
  },
]
const failing = tool({
  ...options,
  run: (_input, ctx) => {
    ctx.state.get(notes).append(1)
    throw new Error('broken')
  },
})
const growing = [10, 10_000].flatMap((items) => [
  {
    name: `append, ${items} items`,
    make:
      (state = stateOf(items)) =>
      () =>
        call(appends, given, { state }),
  },
  {
    name: `append that fails, ${items} items`,
    make:
      (state = stateOf(items)) =>
      () =>
        call(failing, given, { state }),
  },
  {
    name: `snapshot, append and restore, ${items} items`,
    make:
      (state = stateOf(items)) =>
      () => {
        const before = state.snapshot()
        state.get(notes).append(1)
        state.restore(before)
      },
  },
])

const { make } = [...cases, ...growing].find(({ name }) => name === process.argv[2])
process.on('message', async () => {
  // A new state for each round, so that none grows beyond what its name says by more than a round.
  const run = make()
  const begin = process.cpuUsage()
  for (let index = 0; index < CALLS; index += 1) await run()
  const { user, system } = process.cpuUsage(begin)
  process.send((user + system) / CALLS)
})

function stateOf(items) {
  const state = createState()
  state.get(notes).append(...Array.from({ length: items }, (_, a) => ({ a })))
  return state
}
