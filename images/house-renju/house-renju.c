/*
 * Rule: play every rule of Gomocup, renju above all, and open by swap2.
 */
#include "../house-gomocup/gomocup.h"
#include "swap2.h"

static const int RULES[] = {0, 1, 4, 8, 9};
static const struct brain RENJU_PLAYER = {
    .about = "name=\"house-renju\", version=\"1.0\", author=\"judge\"",
    .rules = RULES,
    .rule_count = 5,
    .refusal = "ERROR only rules 0, 1, 4, 8 and 9 are supported",
    .extra = swap2_takes,
};

int main(void)
{
    return gomocup_serve(&RENJU_PLAYER);
}
