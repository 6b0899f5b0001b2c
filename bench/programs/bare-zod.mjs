import { z } from 'zod'

const input = z.object({
  name: z.string().describe('Whom to greet'),
  loud: z.boolean().default(false),
  times: z.number().int().min(1).default(1),
})
const { name, loud, times } = input.parse(JSON.parse(process.argv[2]))
console.log(JSON.stringify({ text: (loud ? 'HELLO ' : 'Hello ') + name, times }))
