import type { DocKind } from '../model.ts'
import { writeAgentsBlock } from './agents-block.ts'

/** The block of AGENTS.md in CLAUDE.md. */
export const kind: DocKind = { make: ({ model }) => writeAgentsBlock(model, 'CLAUDE.md') }
