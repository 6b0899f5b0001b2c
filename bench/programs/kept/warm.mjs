#!/usr/bin/env node
// A small tool that is called warm, cold, and beside a pipe that only echoes.
import { tool, toolset } from 'toolable'

const input = {
  type: 'object',
  properties: { a: { type: 'number' }, b: { type: 'number' } },
  required: ['a', 'b'],
  additionalProperties: false,
}
await toolset({
  name: 'warm',
  version: '1.0.0',
  tools: [
    tool({ name: 'add', summary: 'Add two numbers', input, run: ({ a, b }) => ({ sum: a + b }) }),
  ],
}).run(import.meta)
