#!/usr/bin/env node
// region program
import { tool, toolset } from 'toolable'

const rollDice = tool({
  name: 'roll_dice',
  summary: 'Roll some dice',
  input: {
    type: 'object',
    properties: {
      dice: { type: 'integer', minimum: 1, maximum: 100, description: 'How many' },
      sides: { type: 'integer', minimum: 2, default: 6, description: 'Sides of each' },
    },
    required: ['dice'],
  },
  output: { type: 'array', items: { type: 'integer' } },
  positional: ['dice'],
  run: ({ dice, sides }) =>
    Array.from({ length: Number(dice) }, () => 1 + Math.floor(Math.random() * Number(sides))),
})
await toolset(rollDice).run(import.meta)
// endregion
