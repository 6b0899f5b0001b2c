#!/usr/bin/env node
// region program
import { tool, toolset } from 'toolable'
import { z } from 'zod'

const greet = tool({
  name: 'greet',
  summary: 'Greet somebody',
  input: z.object({
    name: z.string().describe('Whom to greet'),
    times: z.int().min(1).default(1).describe('How often'),
  }),
  positional: ['name'],
  run: ({ name, times }) => Array(times).fill(`Hello, ${name}!`).join(' '),
})
await toolset(greet).run(import.meta)
// endregion
