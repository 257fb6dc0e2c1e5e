/** `multipleOf` by the decimal numbers that were written: doubles divided would say that 0.3 is no multiple of 0.1. */

interface Decimal {
  readonly digits: bigint
  readonly exponent: number
}

/** The shortest decimal that is this double, which is what JSON shows of it. */
const decimalOf = (value: number): Decimal => {
  const [mantissa = "0", exponent = "0"] = String(value).split("e")
  const [whole = "0", fraction = ""] = mantissa.split(".")
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length }
}

/** `divisor` is positive. */
export const isMultipleOf = (value: number, divisor: number): boolean => {
  const a = decimalOf(value)
  const b = decimalOf(divisor)
  const exponent = Math.min(a.exponent, b.exponent)
  const scaled = ({ digits, exponent: own }: Decimal) => digits * 10n ** BigInt(own - exponent)
  return scaled(a) % scaled(b) === 0n
}
