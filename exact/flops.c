/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "counts.h"

UInt pm_flops(IROp op, UInt *width)
{
	*width = 64;
	switch (op) {
	case Iop_AddF64:
	case Iop_SubF64:
	case Iop_MulF64:
	case Iop_DivF64:
	case Iop_SqrtF64:
	case Iop_MaxNumF64:
	case Iop_MinNumF64:
	case Iop_Add64F0x2:
	case Iop_Sub64F0x2:
	case Iop_Mul64F0x2:
	case Iop_Div64F0x2:
	case Iop_Sqrt64F0x2:
	case Iop_Max64F0x2:
	case Iop_Min64F0x2:
		return 1;
	case Iop_MAddF64:
	case Iop_MSubF64:
	case Iop_Add64Fx2:
	case Iop_Sub64Fx2:
	case Iop_Mul64Fx2:
	case Iop_Div64Fx2:
	case Iop_Sqrt64Fx2:
	case Iop_Max64Fx2:
	case Iop_Min64Fx2:
		return 2;
	case Iop_Add64Fx4:
	case Iop_Sub64Fx4:
	case Iop_Mul64Fx4:
	case Iop_Div64Fx4:
	case Iop_Sqrt64Fx4:
	case Iop_Max64Fx4:
	case Iop_Min64Fx4:
		return 4;
	default:
		break;
	}
	*width = 32;
	switch (op) {
	case Iop_AddF32:
	case Iop_SubF32:
	case Iop_MulF32:
	case Iop_DivF32:
	case Iop_SqrtF32:
	case Iop_MaxNumF32:
	case Iop_MinNumF32:
	case Iop_Add32F0x4:
	case Iop_Sub32F0x4:
	case Iop_Mul32F0x4:
	case Iop_Div32F0x4:
	case Iop_Sqrt32F0x4:
	case Iop_Max32F0x4:
	case Iop_Min32F0x4:
		return 1;
	case Iop_MAddF32:
	case Iop_MSubF32:
	case Iop_Add32Fx2:
	case Iop_Sub32Fx2:
	case Iop_Mul32Fx2:
	case Iop_Max32Fx2:
	case Iop_Min32Fx2:
		return 2;
	case Iop_Add32Fx4:
	case Iop_Sub32Fx4:
	case Iop_Mul32Fx4:
	case Iop_Div32Fx4:
	case Iop_Sqrt32Fx4:
	case Iop_Max32Fx4:
	case Iop_Min32Fx4:
		return 4;
	case Iop_Add32Fx8:
	case Iop_Sub32Fx8:
	case Iop_Mul32Fx8:
	case Iop_Div32Fx8:
	case Iop_Sqrt32Fx8:
	case Iop_Max32Fx8:
	case Iop_Min32Fx8:
		return 8;
	default:
		return 0;
	}
}
