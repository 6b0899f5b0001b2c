import { cleanEnvironment, fixture } from '../../support/run-program.ts'
import type { Target } from '../clients/drivers.mjs'

/** How a client starts a fixture, or any other program, over stdio. */
export function stdioTarget(
  program: string,
  args: readonly string[] = [],
): Target & { readonly command: string } {
  return {
    command: process.execPath,
    args: [program.startsWith('/') ? program : fixture(program), '--serve-mcp', 'stdio', ...args],
    env: cleanEnvironment(),
  }
}
