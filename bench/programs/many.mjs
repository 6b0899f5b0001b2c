import { tool, toolset } from 'toolable'
import { z } from 'zod'

const input = () =>
  z.object({
    name: z.string().describe('Whom to greet'),
    loud: z.boolean().default(false),
    kind: z.enum(['short', 'long']).default('short'),
    tags: z.array(z.string()).default([]),
    range: z.object({ from: z.number(), to: z.number() }).optional(),
  })
// `lazy`: schemas as thunks, so that a call builds only its own; `eager`: every schema is built at
// start.
const [count, mode] = [Number(process.env.TOOLS), process.env.SCHEMAS]
const tools = Array.from({ length: count }, (_, index) =>
  tool({
    name: `greet_${index}`,
    summary: `Greet somebody in way ${index}`,
    input: mode === 'lazy' ? input : input(),
    run: ({ name }) => ({ text: `Hello ${name}` }),
  }),
)
await toolset({ name: 'many', version: '1.0.0', tools }).run(import.meta)
