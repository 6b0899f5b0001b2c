import { createRequire } from 'node:module'
import { ToolError } from '../contract/tool-error.ts'

/** The path of a file of a package: of the project that is built, else of the one that lies beside this package. Throws DEPENDENCY, with the command that installs it, where there is none. */
export function findPackage(name: string, file: string, entry: string, what: string): string {
  for (const from of [entry, import.meta.url]) {
    try {
      return createRequire(from).resolve(file)
    } catch (error) {
      if (
        !['MODULE_NOT_FOUND', 'ERR_MODULE_NOT_FOUND'].includes(
          (error as NodeJS.ErrnoException).code ?? '',
        )
      )
        throw error
    }
  }
  throw new ToolError('DEPENDENCY', `${what} needs the package '${name}', which is not installed`, {
    retryable: false,
    recoverable: true,
    suggestion: {
      fix: 'Install it into the project',
      example: `npm install --save-dev ${name}`,
      applicability: 'machine_applicable',
    },
  })
}
