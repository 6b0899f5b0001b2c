// Tools of a module: they run in the process of the command.
import { fail, tool } from 'toolable'

const object = (properties, required = []) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})

export const greet = tool({
  name: 'greet',
  summary: 'Greet a person',
  tags: ['polite'],
  input: object(
    {
      name: { type: 'string', description: 'Name of the person' },
      times: { type: 'integer', default: 1, description: 'Number of greetings' },
    },
    ['name'],
  ),
  positional: ['name'],
  examples: [{ description: 'Once', input: { name: 'Ada' } }],
  annotations: { readOnly: true },
  run: ({ name, times }) => ({ text: Array(times).fill(`Hello ${name}`).join(' ') }),
})

export const wipe = tool({
  name: 'wipe',
  summary: 'Delete all notes',
  annotations: { destructive: true },
  dryRun: true,
  run: (_input, ctx) => {
    ctx.plan('delete', 'notes')
    return ctx.dryRun ? undefined : 'deleted'
  },
})

export const count = tool({
  name: 'count',
  summary: 'Count to a number',
  input: object({ to: { type: 'integer', minimum: 1 } }, ['to']),
  async *run({ to }) {
    for (let number = 1; number <= to; number++) {
      yield { type: 'progress', message: `at ${number}`, percent: (number / to) * 100 }
    }
    return to
  },
})

export const refuse = tool({
  name: 'refuse',
  summary: 'Fail with a code',
  input: object({ code: { type: 'string', default: 'PRECONDITION' } }),
  run: ({ code }) => fail(code, 'the engine is cold', { suggestion: 'Warm it up' }),
})

export const choose = tool({
  name: 'choose',
  summary: 'Ask for a direction',
  run: async (_input, ctx) => ({
    direction: await ctx.ask({
      kind: 'decision',
      key: 'direction',
      prompt: 'Which direction?',
      options: ['left', 'right'],
    }),
  }),
})
