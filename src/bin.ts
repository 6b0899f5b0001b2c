#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { main } from './commands/main.ts'
import { runProcess } from './surfaces/cli/run.ts'
import { toolset } from './surfaces/toolset.ts'

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { readonly version: string }
await runProcess((argv, io, host) => main(version, argv, io, host), toolset)
