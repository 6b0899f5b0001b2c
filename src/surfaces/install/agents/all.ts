import type { Agent } from './agent.ts'
import { claudeCode } from './claude-code.ts'
import { codex } from './codex.ts'
import { cursor } from './cursor.ts'
import { shared } from './shared.ts'
import { vscode } from './vscode.ts'

/** Every agent that something can be installed into. */
export const AGENTS: readonly Agent[] = [claudeCode, codex, cursor, vscode, shared]
