// The same tool as the MCP peers: `BENCH_TOOLS` of them, with zod where `BENCH_ZOD` is set.
import { tool, toolset } from 'toolable'

const input = process.env.BENCH_ZOD
  ? await import('zod').then(({ z }) => z.object({ a: z.number(), b: z.number() }))
  : {
      type: 'object',
      properties: { a: { type: 'number' }, b: { type: 'number' } },
      required: ['a', 'b'],
      additionalProperties: false,
    }
const names = [
  'add',
  ...Array.from(
    { length: Number(process.env.BENCH_TOOLS ?? 1) - 1 },
    (_, index) => `tool_${index}`,
  ),
]

await toolset({
  name: 'bench',
  version: '1.0.0',
  tools: names.map((name) =>
    tool({ name, summary: 'Add two numbers', input, run: ({ a, b }) => String(a + b) }),
  ),
}).run(import.meta)
