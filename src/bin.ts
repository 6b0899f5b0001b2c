#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { runOrCapture } from './cli/run.ts'
import { toolset } from './cli/toolset.ts'
import { main } from './commands/main.ts'
import { createToolableProgram, WARMUP_COMMANDS } from './commands/table.ts'

const { version } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
) as { readonly version: string }
await runOrCapture(createToolableProgram(version, toolset), main, toolset, WARMUP_COMMANDS)
