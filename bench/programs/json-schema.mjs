import { tool, toolset } from 'toolable'

const greet = tool({
  name: 'greet',
  summary: 'Greet somebody',
  input: {
    type: 'object',
    properties: {
      name: { type: 'string', description: 'Whom to greet' },
      loud: { type: 'boolean', default: false },
      times: { type: 'integer', minimum: 1, default: 1 },
    },
    required: ['name'],
  },
  run: ({ name, loud, times }) => ({ text: (loud ? 'HELLO ' : 'Hello ') + name, times }),
})
await toolset(greet).run(import.meta)
