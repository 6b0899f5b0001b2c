/** Pixels. */
export const ROW_HEIGHT = 24
export const AXIS_HEIGHT = 20
