#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { main } from './commands/main.ts'
import { ownProgram } from './commands/program.ts'
import { REHEARSAL } from './commands/rehearsal.ts'
import { runOrGive } from './surfaces/cli/run.ts'
import { toolset } from './surfaces/toolset.ts'

const { version } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
) as { readonly version: string }
await runOrGive(ownProgram(version, toolset), main, toolset, REHEARSAL)
