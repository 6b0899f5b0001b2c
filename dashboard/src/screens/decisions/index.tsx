import type { ScreenProps } from '../screen.ts'

/** The screen Decisions. */
export function DecisionsScreen({ parts }: ScreenProps) {
  return <p>{parts.join(' / ')}</p>
}
