import type { ToolManifest } from '../../contract/manifest.ts'
import { checkFlags as check } from '../../surfaces/cli/check-flags.ts'
import { flagSpecs } from '../../surfaces/cli/flags.ts'
export function checkFlags(m: ToolManifest): void { check(m, flagSpecs(m)) }
