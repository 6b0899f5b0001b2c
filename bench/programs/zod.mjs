import { tool, toolset } from 'toolable'
import { z } from 'zod'

const greet = tool({
  name: 'greet',
  summary: 'Greet somebody',
  input: z.object({
    name: z.string().describe('Whom to greet'),
    loud: z.boolean().default(false),
    times: z.number().int().min(1).default(1),
  }),
  run: ({ name, loud, times }) => ({ text: (loud ? 'HELLO ' : 'Hello ') + name, times }),
})
await toolset(greet).run(import.meta)
